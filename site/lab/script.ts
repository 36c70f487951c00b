// The text of a program as code: the names that it can use, and the line of an error.
import * as zkwire from '../../src/index.ts'
import * as recipes from '../../src/recipes/index.ts'
import type { Main, OwnFault, Program } from '../world/program.ts'

/** How stacks name the code. */
const FILE = 'program.js'
/** The most calls of a client that can wait for an answer: a loop without `await` would fill the memory. */
const MOST_CALLS = 1000

/** The code that a text becomes: a function of an object with all names of {@link namesOf}. */
export type Script = (names: Readonly<Record<string, unknown>>) => Promise<void>

/** The names that a program can use beside those of zkwire and zkwire/recipes. abilities.ts explains them. */
export const OWN_NAMES = [
  ...['zk', 'me', 'clients', 'enter', 'leave', 'sleep', 'stop', 'unplug', 'cut', 'kill', 'console'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'Date', 'performance', 'Math', 'crypto'],
] as const

/** Names that would leave the virtual world. */
const { connect: _connect, supervise: _supervise, ...calls } = zkwire

/** What a program can import. */
const MODULES = ['zkwire', 'zkwire/recipes', 'zkwire/server']

const NAMES = [...OWN_NAMES, ...Object.keys(calls), ...Object.keys(recipes)]

/** The name of the function that {@link codeOf} calls. */
export const RECEIVER = 'receiveProgram'

/**
 * Returns code that passes the {@link Script} of a text to a function, with what `mainOf` needs.
 * @param before the number of lines before this code, in what is compiled
 */
export function codeOf(text: string, before: number): string {
  const opening = `async ${ALL} => { "use strict"; const { ${NAMES.join(', ')} } = ${ALL}; {`
  return `${RECEIVER}(${before + 2}, ${linesIn(text)}, ${opening}\n${importsReplaced(text)}\n}})\n//# sourceURL=${FILE}`
}

/** The parameter of the code, from which it takes its names. */
const ALL = 'allNames'

/** An import of a module: the names, with `{` and `}` or after `* as`, and the module. */
const IMPORT = /^([ \t]*)import\s+(?:(\{[^{}]*\}|\*\s*as\s+[\w$]+)\s*from\s*)?(['"])([\w/:.@-]+)\3/gm

/**
 * Replaces the imports of zkwire by declarations on the same lines, because a program is a function and no module. An import
 * of another module stays, and is a syntax error.
 */
const importsReplaced = (text: string): string =>
  text.replaceAll(IMPORT, (all: string, space: string, names: string | undefined, _quote: string, module: string) => {
    if (!MODULES.includes(module)) return all
    const declared = (names ?? '{}').replace(/^\*\s*as\s+/, '').replaceAll(/\s+as\s+/g, ': ')
    return `${space}const ${declared} = ${ALL}['${module}']${'\n'.repeat(linesIn(all) - linesIn(declared))}`
  })

/**
 * Returns what the reader is told of a syntax error.
 * @param line the line of the text, from 1. It is after the last one if the brackets of the text and of {@link codeOf} do
 * not match
 */
export const syntaxProblem = (text: string, line: number, message: string): string =>
  line > linesIn(text.trimEnd())
    ? 'The program is not complete: at its end, a bracket or a text is still open, or one bracket too many was closed.'
    : `Line ${Math.max(1, line)}: ${message.includes('import statement') ? ONLY_IMPORTS : message}`

const ONLY_IMPORTS = `A program can import names from ${MODULES.slice(0, -1).join(', ')} and ${MODULES.at(-1)} only.`

export const linesIn = (text: string): number => text.split('\n').length

/** Returns what each client runs. @param firstLine the line on which the text begins, in what was compiled */
export const mainOf =
  (firstLine: number, lines: number, script: Script): Main =>
  async program => {
    const lineIn = (stack: string | undefined) => lineOf(stack, firstLine, lines)
    try {
      await script(namesOf(program, (error, stack) => rejections.set(error, { program, line: lineIn(stack) })))
    } catch (error) {
      throw failureOf(error, error instanceof Error ? lineIn(error.stack) : undefined)
    }
  }

/** The calls that were rejected: the program that called, and its line. */
const rejections = new WeakMap<object, { readonly program: Program; readonly line: number | undefined }>()

/** Ends the program whose call was rejected, without an await for it. Returns false if the program is not known. */
export function failUnhandled(reason: unknown): boolean {
  const call = reason instanceof Error ? rejections.get(reason) : undefined
  call?.program.end(failureOf(reason))
  return call !== undefined
}

/** Returns an error whose message begins with the line, if it is known. */
function failureOf(error: unknown, thrownAt?: number): Error & { line: number | undefined } {
  const line = thrownAt ?? (error instanceof Error ? rejections.get(error)?.line : undefined)
  const message = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${String(error)}`
  return Object.assign(new Error(line === undefined ? message : `line ${line}: ${message}`), { line })
}

/** Returns the line of a text in which a stack begins, from 1. Undefined if the stack does not name the text. */
function lineOf(stack = '', firstLine: number, lines: number): number | undefined {
  const all = [...stack.matchAll(new RegExp(`${FILE.replace('.', '\\.')}:(\\d+)`, 'g'))]
  return all.map(([, line]) => Number(line) - firstLine + 1).find(line => line >= 1 && line <= lines)
}

type OnRejection = (error: Error, stack: string | undefined) => void

function namesOf(program: Program, onRejection: OnRejection): Record<string, unknown> {
  const { client, options } = program
  const { process, random, id, all, suffer } = options
  if (client === undefined) throw new Error('the client has no session')
  keepLines(client, onRejection)
  const fault = (fault: OwnFault) => {
    suffer(fault)
    return process.sleep(0)
  }
  const print = (...values: unknown[]) => program.note('result', values.map(textOf).join(' '))
  return {
    ...modulesFor(client),
    ...calls,
    ...recipes,
    ...{ zk: client, me: id, clients: all },
    ...{ enter: () => program.enter(), leave: () => program.leave() },
    sleep: (ms: number) => process.sleep(ms),
    stop: (seconds: number) => fault({ kind: 'stop', seconds }),
    unplug: (seconds: number) => fault({ kind: 'unplug', seconds }),
    cut: () => fault({ kind: 'cut' }),
    kill: () => fault({ kind: 'kill' }),
    console: { log: print, info: print, warn: print, error: print },
    setTimeout: (callback: () => void, ms: number) => process.setTimeout(callback, ms),
    clearTimeout: (timer: unknown) => process.clearTimeout(timer),
    // With these, two runs would differ.
    Date: { now: () => process.wallNow() },
    performance: { now: () => process.now() },
    Math: Object.create(Math, { random: { value: random } }) as Math,
    ...{ setInterval: undefined, crypto: undefined },
  }
}

/** Returns what a program can import: each client has its session and its server already. */
function modulesFor(client: zkwire.Client): Record<string, unknown> {
  const connect = () => Promise.resolve(client)
  const supervise = (_servers: string, _options: object, task: (...values: unknown[]) => unknown) =>
    Promise.resolve().then(() => task(client, client.leaseSignal))
  const end = () => Promise.resolve()
  const server = { connectString: 'localhost:2181', close: end, [Symbol.asyncDispose]: end }
  return {
    zkwire: { ...calls, connect, supervise },
    'zkwire/recipes': recipes,
    'zkwire/server': { Server: { start: () => Promise.resolve(server) } },
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : jsonOf(value)

function jsonOf(value: unknown): string {
  const plain = (_key: string, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)
  // JSON has no text for undefined and functions.
  if (value === undefined || typeof value === 'function') return typeof value
  return JSON.stringify(value, plain)
}

/** Tells the line of each call that is rejected: the error is made when the answer arrives, and its stack does not say. */
function keepLines(client: object, onRejection: OnRejection): void {
  let waiting = 0
  for (const [name, call] of methodsOf(client)) {
    const kept = function (this: unknown, ...values: unknown[]): unknown {
      if (waiting >= MOST_CALLS) throw new Error(`${MOST_CALLS} calls of this client wait for their answers: use await`)
      const result: unknown = call.apply(this, values)
      if (!(result instanceof Promise)) return result
      const { stack } = new Error()
      waiting++
      return result.then(
        value => {
          waiting--
          return value as unknown
        },
        (error: unknown) => {
          waiting--
          if (error instanceof Error) onRejection(error, stack)
          throw error
        },
      )
    }
    Object.defineProperty(client, name, { value: kept, configurable: true })
  }
}

type Method = (this: unknown, ...values: unknown[]) => unknown

/** Returns the methods of an object's classes by their names, the nearest first. */
function methodsOf(object: object): Map<string, Method> {
  const methods = new Map<string, Method>()
  for (let of: object = Object.getPrototypeOf(object) as object; of !== Object.prototype;) {
    for (const [name, { value }] of Object.entries<PropertyDescriptor>(Object.getOwnPropertyDescriptors(of)))
      if (typeof value === 'function' && name !== 'constructor' && !methods.has(name))
        methods.set(name, value as Method)
    of = Object.getPrototypeOf(of) as object
  }
  return methods
}
