// What the inspector shows.
import { isMatch } from '../../lessons/lesson-run.ts'
import type { Focus } from '../../lessons/lesson.ts'
import type { ServerMessage } from '../../world/member-message.ts'
import type { WireFrame } from '../../world/wire-frame.ts'

export type Selection =
  | { kind: 'client'; client: number }
  | { kind: 'server'; server: number }
  | { kind: 'node'; path: string }
  | { kind: 'frame'; n: number }
  /** A message between servers. */
  | { kind: 'message'; n: number }

/** Returns what a lesson is about. Undefined if it is about a frame or a message that is not there. */
export function selectionOf(
  focus: Focus,
  frames: readonly WireFrame[],
  messages: readonly ServerMessage[],
): Selection | undefined {
  if ('client' in focus) return { kind: 'client', client: focus.client }
  if ('server' in focus) return { kind: 'server', server: focus.server }
  if ('node' in focus) return { kind: 'node', path: focus.node }
  if ('message' in focus) {
    const message = messages.findLast(message => isMatch(message, focus.message))
    return message && { kind: 'message', n: message.n }
  }
  const frame = frames.findLast(frame => isMatch(frame, focus.frame))
  return frame && { kind: 'frame', n: frame.n }
}
