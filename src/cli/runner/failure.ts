// The failures of a command: exit statuses, and one line for each failure.
import { ZooKeeperError, isCode, type ErrorCode } from '../../protocol/index.ts'
import { mostSimilar } from '../../options/checks.ts'
import { messageOfSystem, withoutSecrets } from '../../runtime/host-port.ts'
import { RecipeError } from '../../recipes/call/recipe-error.ts'
import { escaped } from './text.ts'

/** Exit statuses. 64 to 76 are those of sysexits.h. */
export const statuses = {
  ok: 0,
  refused: 1,
  usage: 64,
  noServer: 69,
  internal: 70,
  /** The lock was not acquired in time. */
  timeout: 75,
  /** The lock was lost. */
  lost: 76,
} as const

/** Wrong input. The message says what is wrong and how to mend it. */
export class UsageError extends Error {}

/** Returns the error for an unknown command, which names the most similar one if there is one. */
export function unknownCommand(name: string, known: Iterable<string>): UsageError {
  // Without the value of the option, which may be a secret.
  if (name.startsWith('-'))
    return new UsageError(`${name.split('=')[0]}: write the command first, and then its options and their values`)
  const nearest = mostSimilar(name, [...known])
  const question = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return new UsageError(`there is no command ${JSON.stringify(withoutSecrets(name))}${question}`)
}

/** A failure with an exit status of its own. */
export class CommandError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The reader of the output has closed it, as `head` does. */
export class OutputClosed extends Error {}

/** A signal has ended the command. */
export class Interrupted extends Error {
  readonly signalName: NodeJS.Signals
  /** 128 plus the number of the signal, as shells report it. */
  readonly status: number

  constructor(signalName: NodeJS.Signals, number: number) {
    super(`interrupted by ${signalName}`)
    this.signalName = signalName
    this.status = 128 + number
  }
}

const UNREACHABLE: readonly ErrorCode[] = ['NOSERVER', 'CONNECTTIMEOUT', 'CONNECTIONLOSS', 'PROTOCOL', 'ACCESSDENIED']

/** Returns the exit status for an error that a command has thrown. */
export function statusOf(error: unknown): number {
  if (error instanceof Interrupted || error instanceof CommandError) return error.status
  if (error instanceof OutputClosed) return statuses.ok
  if (error instanceof UsageError || isCode(error, 'BADARGUMENTS')) return statuses.usage
  if (isCode(error, ...UNREACHABLE)) return statuses.noServer
  if (error instanceof ZooKeeperError) return statuses.refused
  if (error instanceof RecipeError) return recipeStatuses[error.code] ?? statuses.refused
  return isSystemError(error) ? statuses.refused : statuses.internal
}

const recipeStatuses: Partial<Record<RecipeError['code'], number>> = { TIMEOUT: statuses.timeout, LOST: statuses.lost }

/** What the library calls by the names of its interface, as options of the program. */
const OPTIONS: Readonly<Record<string, string>> = {
  'with addAuth()': 'by --auth',
  maxRequestBytes: '--max-request',
  maxReplyBytes: '--max-reply',
}
const INTERFACE = /with addAuth\(\)|max(?:Request|Reply)Bytes/g

/** Returns one line for an error, or undefined if the user needs none. */
export function messageOf(error: unknown): string | undefined {
  if (error instanceof Interrupted || error instanceof OutputClosed) return undefined
  const message = error instanceof Error ? messageOfSystem(error) : String(error)
  const text = message.replace(INTERFACE, words => OPTIONS[words] ?? words)
  return escaped(statusOf(error) === statuses.internal ? `this is a bug of zkwire: ${text}` : text)
}

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof error.syscall === 'string'
