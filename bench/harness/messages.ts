// The messages between the main thread and a performer in another thread, process or machine.
import type { Performer } from './performer.ts'

export type Command = keyof Performer

export interface CommandMessage {
  id: number
  command: Command
  args: unknown[]
}

export type Reply = { id: number; value: unknown } | { id: number; error: Error }

/** A message that is not a reply to a command. */
export type Notice = { is: 'reached' } | { is: 'opened' } | { is: 'failed'; error: Error } | Passed

/** What has passed since the last message. Only performers that share no memory with the main thread send it. */
export interface Passed {
  is: 'passed'
  marks: number
  frames: number
  otherFrames: number
}

/** Executes a command. Never rejects. */
export async function execute(performer: Performer, { id, command, args }: CommandMessage): Promise<Reply> {
  try {
    const perform = performer[command] as (...args: unknown[]) => unknown
    return { id, value: await perform.apply(performer, args) }
  } catch (error) {
    return { id, error: error as Error }
  }
}
