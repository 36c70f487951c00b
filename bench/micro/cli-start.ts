// `npm run bench -- cli`: how much longer `zkwire get` takes than an empty program of Node, from start to end.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { median } from '../measure/statistics.ts'

const ROUNDS = 25
/** The goal, ms. */
const GOAL = 150

const root = join(import.meta.dirname, '..', '..')
const server = await Server.start()
const zk = await connect(server.connectString)
await zk.create('/node', 'data')
await zk.close()

const programs = {
  'node -e 0': ['-e', '0'],
  'zkwire --version': [join(root, 'dist', 'cli', 'main.js'), '--version'],
  'zkwire get /node': [join(root, 'dist', 'cli', 'main.js'), 'get', '/node'],
} as const

interface Times {
  all: number
  cpu: number
}

/** Runs the program, and returns how long it and its CPU took, in milliseconds. bash measures both. */
async function run(args: readonly string[]): Promise<Times> {
  const child = spawn(
    'bash',
    ['-c', 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null', 'bash', process.execPath, ...args],
    {
      env: { ...process.env, ZKWIRE_SERVER: server.connectString },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const [all = NaN, user = NaN, system = NaN] = (await text(child.stderr)).trim().split(' ').map(Number)
  if (Number.isNaN(all + user + system)) throw new Error(`${args.join(' ')} failed`)
  return { all: 1000 * all, cpu: 1000 * (user + system) }
}

const times = new Map(Object.keys(programs).map(name => [name, [] as Times[]]))
// In turn, so that a busy moment of the machine does not meet one program only. The first round fills the file cache.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, args] of Object.entries(programs)) {
    const time = await run(args)
    if (round > 0) times.get(name)?.push(time)
  }
await server.close()

/** Of the elapsed times the fastest, because other programs disturbed it least. */
const rows = [...times].map(([name, runs]) => ({
  name,
  all: Math.min(...runs.map(({ all }) => all)),
  cpu: median(runs.map(({ cpu }) => cpu)),
}))
const [base = { all: NaN, cpu: NaN }] = rows
const cell = (ms: number) => ms.toFixed(0).padStart(12)
console.log(`ms, of ${ROUNDS} runs              fastest        more  median CPU        more`)
for (const { name, all, cpu } of rows)
  console.log(name.padEnd(25) + cell(all) + cell(all - base.all) + cell(cpu) + cell(cpu - base.cpu))
const last = rows.at(-1) ?? base
console.log(
  `zkwire get takes ${(last.all - base.all).toFixed(0)} ms and ${(last.cpu - base.cpu).toFixed(0)} ms of CPU more ` +
    `than node -e 0; the goal is less than ${GOAL} ms on an idle machine`,
)
