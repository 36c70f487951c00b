// The command line of `npm start`.
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { parseConnectString } from '../src/session/connect-string.ts'
import { recipes, type Recipe } from './recipes.ts'

export interface Options {
  /** Undefined: a server is started for the run. */
  servers: string | undefined
  /** Ascending. */
  contenders: number[]
  recipes: Recipe[]
  seconds: number
  /** Where the raw figures go. */
  json: string
}

/** What is wrong with the command line, in one line. */
export class UsageError extends Error {}

const DEFAULTS = {
  contenders: '10,100,1000',
  recipes: recipes.map(({ name }) => name).join(','),
  seconds: '60',
  json: fileURLToPath(new URL('results/latest.json', import.meta.url)),
}

export const help = `npm start -- [options]

Measures what lock recipes do to a ZooKeeper: N contenders, each with a session of its
own, stand in a queue for one lock, and hand it on. Prints what each hand-over causes
on the wire, how long it takes, and how that grows with N. bench/README.md tells how.

  --contenders N,N,...     how many contend (${DEFAULTS.contenders})
  --recipes NAME,NAME,...  which locks (${DEFAULTS.recipes})
  --server HOST:PORT,...   a ZooKeeper that runs already; without it, an Apache
                           ZooKeeper is found or installed, started, and stopped
  --seconds N              time for all of it, after start-up (${DEFAULTS.seconds}); the least that a
                           figure needs is measured even where that takes longer
  --json FILE              where the raw figures go (bench/results/latest.json)
  --help                   this

On a server it did not start it works below one node of its own, /zkwire-bench-...,
and leaves nothing behind.
`

/**
 * @param args what follows the name of the program
 * @throws UsageError
 */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const given = valuesOf(args)
  if (given.help === true) return 'help'
  return {
    servers: given.server === undefined ? undefined : serversOf(given.server),
    contenders: contendersOf(given.contenders ?? DEFAULTS.contenders),
    recipes: recipesOf(given.recipes ?? DEFAULTS.recipes),
    seconds: secondsOf(given.seconds ?? DEFAULTS.seconds),
    json: given.json ?? DEFAULTS.json,
  }
}

function valuesOf(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { server: text, contenders: text, recipes: text, seconds: text, json: text }
    return parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean' } } }).values
  } catch (error) {
    // Behind the first sentence, Node tells how to pass what is not wanted here.
    throw new UsageError((error as Error).message.split(/\.\s|\n/)[0])
  }
}

function serversOf(text: string): string {
  let chroot: string
  try {
    ;({ chroot } = parseConnectString(text))
  } catch {
    throw new UsageError(`--server: ${JSON.stringify(text)} is not host:port[,host:port]`)
  }
  if (chroot !== '') throw new UsageError(`--server: no path behind the port, please (${chroot})`)
  return text
}

function contendersOf(text: string): number[] {
  const counts = new Set(text.split(',').map(each => Number(each.trim() || NaN)))
  for (const count of counts)
    if (!Number.isInteger(count) || count < 2)
      throw new UsageError(`--contenders: ${JSON.stringify(text)} is not a list of whole numbers from 2 on`)
  return [...counts].sort((a, b) => a - b)
}

function recipesOf(text: string): Recipe[] {
  const names = [...new Set(text.split(',').map(name => name.trim()))]
  return names.map(name => {
    const recipe = recipes.find(each => each.name === name)
    if (recipe !== undefined) return recipe
    throw new UsageError(`--recipes: ${JSON.stringify(name)} is none of ${recipes.map(each => each.name).join(', ')}`)
  })
}

function secondsOf(text: string): number {
  const seconds = Number(text.trim() || NaN)
  if (seconds > 0 && seconds < 1e6) return seconds
  throw new UsageError(`--seconds: ${JSON.stringify(text)} is not a number of seconds`)
}
