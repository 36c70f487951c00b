// Stops all servers for longer than the session timeout, RUNS times (default 20), and measures how long it takes after
// they serve again until there is a leader, and a holder of a lock. SERVERS (default 1,3) and TIMEOUTS (default
// 4000,10000 ms) are lists. Prints a table. The exit code is 1 if one of them takes longer than the bound.
import { setTimeout as delay } from 'node:timers/promises'
import { Ensemble } from '../../environment/ensemble.ts'
import { Services, type Term } from '../support/services.ts'
import { until } from '../../environment/until.ts'

const listOf = (value: string): number[] => value.split(',').map(Number)
const runs = Number(process.env['RUNS'] ?? 20)
const sizes = listOf(process.env['SERVERS'] ?? '1,3')
const timeouts = listOf(process.env['TIMEOUTS'] ?? '4000,10000')
const SERVICES = 3
/** The longest time without a leader or holder after the servers serve again, in milliseconds. */
const BOUND = 2000
/** Outages end at different times between the attempts of the clients to reconnect. */
const SPREAD = 3000

/** Resolves when more than half of the servers serve, with that time. */
async function majorityOf(starts: readonly Promise<void>[]): Promise<number> {
  let count = 0
  await new Promise<void>((resolve, reject) => {
    const onStarted = () => {
      if (++count > starts.length / 2) resolve()
    }
    for (const start of starts) start.then(onStarted, reject)
  })
  return performance.now()
}

/** Returns how long after `servedAt` the present term began. */
async function gapOf(terms: readonly Term[], { killedAt, servedAt }: { killedAt: number; servedAt: number }) {
  const present = () => terms.find(({ at, held }) => at > killedAt && !held.signal.aborted)
  await until(() => present() !== undefined, { within: 120_000 })
  return Math.max(0, Math.round((present()?.at ?? Infinity) - servedAt))
}

/** The gaps of the leadership or of the lock, in milliseconds. */
interface Row {
  servers: number
  timeout: number
  of: 'leader' | 'lock'
  gaps: number[]
}

async function measure(size: number): Promise<Row[]> {
  await using ensemble = await Ensemble.start({ size, config: { tickTime: 500, minSessionTimeout: 1000 } })
  const { servers, connectString } = ensemble
  const groups = []
  for (const timeout of timeouts) {
    const services = await Services.start(connectString, `/t${timeout}`, SERVICES, { sessionTimeout: timeout })
    groups.push({ services, timeout, leader: [] as number[], lock: [] as number[] })
  }
  for (let run = 0; run < runs; run++) {
    const killedAt = performance.now()
    await Promise.all(servers.map(server => server.kill()))
    await delay(Math.max(...timeouts) + Math.random() * SPREAD)
    const starts = servers.map(server => server.start())
    const times = { killedAt, servedAt: await majorityOf(starts) }
    for (const { services, leader, lock } of groups) {
      leader.push(await gapOf(services.leaders, times))
      lock.push(await gapOf(services.holders, times))
    }
    await Promise.all(starts)
    // By then all leases have been confirmed again, so that the next outage begins with a leader and a holder.
    await delay(1000)
  }
  await Promise.all(groups.map(({ services }) => services.close()))
  return groups.flatMap(({ timeout, leader, lock }) => [
    { servers: size, timeout, of: 'leader' as const, gaps: leader },
    { servers: size, timeout, of: 'lock' as const, gaps: lock },
  ])
}

const inOrder = (gaps: readonly number[]) => gaps.toSorted((a, b) => a - b)
const rows: Row[] = []
for (const size of sizes) rows.push(...(await measure(size)))
console.table(
  rows.map(({ gaps, timeout, ...row }) => ({
    ...row,
    'T, ms': timeout,
    'median, ms': inOrder(gaps)[gaps.length >> 1],
    'longest, ms': Math.max(...gaps),
    [`within ${BOUND} ms`]: `${gaps.filter(gap => gap <= BOUND).length} of ${gaps.length}`,
  })),
)
process.exitCode = rows.every(({ gaps }) => gaps.every(gap => gap <= BOUND)) ? 0 : 1
