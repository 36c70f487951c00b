// What a command is, and what it gets. This folder runs one command: arguments, output, errors, connections,
// signals.
// May import: client/index.ts, protocol/index.ts, options, recipes/call/recipe-error.ts, runtime,
// sasl/index.ts.
import type { Client, ConnectOptions } from '../../client/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Say } from './outage-notices.ts'
import type { Output } from './output.ts'
import type { Signals } from './signals.ts'

/** One option: its type as in parseArgs() of node:util, and its line of help. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  /** The name of the value in the help, such as SECONDS. */
  readonly value?: string
  /** The values that are allowed. Default: any. */
  readonly choices?: readonly string[]
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

/** The values of the options: false for a boolean that is not given, and an empty list for one that may be repeated. */
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends { readonly multiple: true }
    ? readonly string[]
    : O[K] extends { readonly type: 'boolean' }
      ? boolean
      : string | undefined
}

/** A positional argument. */
export interface Argument {
  readonly name: string
  readonly help: string
  /**
   * Says how it is completed, and how it is read. `path`: the path of a node. `newPath`: that of a node to create,
   * which may end with a slash. Default: any text.
   */
  readonly kind?: 'path' | 'newPath' | 'file' | 'command'
  readonly choices?: readonly string[]
  readonly isOptional?: boolean
  /** Only for the last argument: it may be given several times. */
  readonly isRepeated?: boolean
}

/** A connect string, and the options for connect(). */
export interface Target {
  readonly servers: string
  readonly options: ConnectOptions
}

/** How a command gets a session: its own one, or that of the shell. */
export interface Sessions {
  /** True if the session is closed when the command has ended. False in a shell. */
  readonly endsWithCommand: boolean
  /** Returns where the session is, or would be, opened. */
  target(): Promise<Target>
  /**
   * Returns the client. The same one for each call, until its session has expired.
   * @param wait how long servers are waited for, in milliseconds, unless --connect-timeout says it. Default: not, if none is there
   */
  open(wait?: number): Promise<Client>
  /** Runs the task in one session after another, as `supervise`. With the client of a shell, runs it once. */
  supervise<T>(task: (client: Client, signal: AbortSignal) => T | Promise<T>, signal: AbortSignal): Promise<T>
}

/** What a command gets from the process that runs it, or from the shell. */
export interface Host {
  readonly stdin: NodeJS.ReadableStream
  /** Where a program that a command runs reads from: `inherit` for the stdin of this process. */
  readonly programStdin: 'inherit' | 'ignore'
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly signals: Signals
  readonly commands: CommandTable
  /**
   * Returns the sessions of a command that connects.
   * @param values the options of the connection; undefined if `connectionOptions` is false
   * @param say is told of a connection that is missing for some time. Default: nobody is told
   * @param command the name of the command
   */
  sessions(values: ParsedValues, say?: Say, command?: string): Sessions
  /** True if the commands accept the options of a connection. False for a shell, which has one already. */
  readonly hasConnectionOptions: boolean
  /** Makes the path of a node absolute; `.` is the current node, which is / if the host is no shell. */
  resolve(text: string): string
}

/** The values of all options, with those of the connection. */
export type ParsedValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** What a command works with. */
export interface Context<O extends Options = Options> {
  readonly values: Values<O>
  /** Returns a positional argument that is not optional. A path is absolute and valid. */
  readonly argument: (name: string) => string
  /** Returns a positional argument, or undefined if it was not given. */
  readonly optional: (name: string) => string | undefined
  /** Returns all values of an argument that may be repeated. */
  readonly all: (name: string) => readonly string[]
  /** The words after `--`: the program that the command runs. Empty unless the command takes one. */
  readonly program: readonly string[]
  readonly stdin: NodeJS.ReadableStream
  readonly out: Output
  readonly err: Output
  readonly env: Host['env']
  readonly clock: Clock
  readonly signals: Signals
  /** Aborts when the user ends the command, and when nobody reads its output any more. */
  readonly signal: AbortSignal
  readonly commands: CommandTable
  readonly sessions: Sessions
  /** Returns the client of the command's session, as {@link Sessions.open}. Its host closes it. */
  readonly client: (wait?: number) => Promise<Client>
  /** The host, for commands that run other commands. */
  readonly host: Host
}

/** One command. */
export interface Command<O extends Options = Options> {
  readonly name: string
  /** One line, without a full stop. */
  readonly summary: string
  /** Further paragraphs of the help. */
  readonly details?: readonly string[]
  readonly options: O
  readonly arguments: readonly Argument[]
  /** Command lines that the help shows. */
  readonly examples?: readonly string[]
  /** True if the words after `--` are a program that the command runs. */
  readonly takesProgram?: boolean
  /** False if the command needs no session, and so no options of a connection. Default true. */
  readonly connects?: boolean
  /** True if the command has the option --json. Default true. */
  readonly hasJson?: boolean
  /**
   * True if the command settles by itself after its signal has aborted, because it must end something first. Otherwise it
   * is left alone then. Default false.
   */
  readonly endsItself?: boolean
  /** Returns the exit status. Default: 0. */
  run(context: Context<O>): Promise<number | undefined> | Promise<void>
}

/** Loads each command when it is needed, by its name. */
export type CommandTable = ReadonlyMap<string, () => Promise<Command>>

/** Returns the command, with the types of its values taken from its options. */
export const command = <const O extends Options>(definition: Command<O>): Command => definition
