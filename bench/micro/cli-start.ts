// `npm run bench:cli`: how much longer `zkwire get` takes than an empty program of Node, from start to end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
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

/** Runs the program, and returns how long it took, in milliseconds. */
async function run(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ZKWIRE_SERVER: server.connectString },
    stdio: 'ignore',
  })
  const [status] = (await once(child, 'exit')) as [number]
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - startedAt
}

const times = new Map(Object.keys(programs).map(name => [name, [] as number[]]))
// In turn, so that a busy moment of the machine does not meet one program only. The first round fills the file cache.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, args] of Object.entries(programs)) {
    const time = await run(args)
    if (round > 0) times.get(name)?.push(time)
  }
await server.close()

/** The fastest run was disturbed least by other programs. */
const rows = [...times].map(([name, all]) => ({ name, fastest: Math.min(...all), half: median(all) }))
const base = rows[0]?.fastest ?? NaN
console.log(`ms, of ${ROUNDS} runs             median   fastest   more than node -e 0`)
for (const { name, fastest, half } of rows)
  console.log(
    name.padEnd(25) +
      half.toFixed(0).padStart(10) +
      fastest.toFixed(0).padStart(10) +
      (fastest - base).toFixed(0).padStart(22),
  )
const more = (rows.at(-1)?.fastest ?? NaN) - base
console.log(`zkwire get takes ${more.toFixed(0)} ms more than node -e 0; the goal is less than ${GOAL} ms`)
