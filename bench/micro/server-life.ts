// `npm run bench -- server`: the time to start, use and close an embedded server in a test. The folder holds small
// benchmarks, each a single program. The first server is listed separately, because V8 has not compiled the code yet.
// May import: bench/measure, environment, src/index.ts, src/server/index.ts, esbuild.
import { connect, type Dial } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { median } from '../measure/statistics.ts'

const ROUNDS = 500
const steps = ['start', 'connect', 'create', 'close'] as const

/** Returns the duration of each step, ms. */
async function round(listen: boolean): Promise<number[]> {
  const marks = [performance.now()]
  const mark = () => marks.push(performance.now())
  const server = await Server.start({ listen })
  mark()
  const dial: { dial?: Dial } = listen ? {} : { dial: server.dial }
  const zk = await connect(server.connectString, dial)
  mark()
  await zk.create('/here')
  mark()
  await zk.close()
  await server.close()
  mark()
  return steps.map((_, i) => (marks[i + 1] ?? NaN) - (marks[i] ?? NaN))
}

const columns = [...steps, 'all', '99 %', 'the first server']
console.log(`ms, median of ${ROUNDS} servers${columns.map(each => each.padStart(each.length + 3)).join('')}`)
for (const [transport, listen] of [
  ['over TCP', true],
  ['in memory', false],
] as const) {
  const rounds: number[][] = []
  for (let i = 0; i < ROUNDS; i++) rounds.push(await round(listen))
  const all = rounds.map(times => times.reduce((sum, time) => sum + time, 0))
  const late = all.toSorted((a, b) => a - b)[Math.floor(ROUNDS * 0.99)]
  const cells = [...steps.map((_, i) => median(rounds.map(times => times[i] ?? NaN))), median(all), late, all[0]]
  console.log(
    transport.padEnd(25) + cells.map((cell, i) => cell?.toFixed(2).padStart((columns[i]?.length ?? 0) + 3)).join(''),
  )
}
