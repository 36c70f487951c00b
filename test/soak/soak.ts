// The long run: three servers, processes that want locks, and everything that can go wrong, for MINUTES (default 10), drawn from SEED. It ends
// with a table, and with 1 where a promise was broken.
import { setTimeout as delay } from 'node:timers/promises'
import { now, type Event } from '../linearizability/history.ts'
import type { Evidence } from '../linearizability/evidence.ts'
import { violations } from '../linearizability/invariants.ts'
import { readTransactionLog, type Transaction } from '../linearizability/transaction-log.ts'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import { kindsOf } from '../linearizability/workload.ts'
import { Ensemble, TICK } from '../support/ensemble.ts'
import { allServe, Nemesis } from './nemesis.ts'
import { tableOf } from './table.ts'
import { WorkerProcess } from './worker-process.ts'

const minutes = Number(process.env['MINUTES'] ?? 10)
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))
const WORKERS = 4
const SESSION_TIMEOUT = 2000
const PATIENCE = 6000

console.log(`SEED=${seed} MINUTES=${minutes}`)
await using ensemble = await Ensemble.start({
  linked: true,
  config: { minSessionTimeout: SESSION_TIMEOUT },
  // Empty directories go at once, so that their numbers begin anew again and again.
  jvm: ['-Dznode.container.checkIntervalMs=500'],
})
const watchesBefore = await watchCount()
const killedWorkers: WorkerProcess[] = []
let startedWorkers = 0
const startWorker = () =>
  WorkerProcess.start(
    { name: `w${++startedWorkers}`, seed: seed + 1000 * startedWorkers, sessionTimeout: SESSION_TIMEOUT },
    ensemble.servers,
  )
const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker))

const nemesis = new Nemesis({
  ...{ ensemble, workers, seed, locks: lockKinds, sessionTimeout: SESSION_TIMEOUT },
  async replace(worker) {
    const at = workers.indexOf(worker)
    await worker.kill()
    killedWorkers.push(worker)
    workers[at] = await startWorker()
  },
})
await nemesis.run(minutes * 60_000)
const lastFaultAt = now()
await Promise.all(workers.map(worker => worker.settle()))
const drained = now() - lastFaultAt
// The sessions of those who were killed end by themselves.
await delay(SESSION_TIMEOUT + 4 * TICK)

await allServe(ensemble)
// Before the logs are read: that takes its time, in which nothing passes from server to server, since their links are here.
const leftWatches = (await watchCount()) - watchesBefore
await Promise.all(workers.map(worker => worker.close()))

const allWorkers = [...workers, ...killedWorkers]
const evidence: Evidence = {
  locks: kindsOf(lockKinds),
  events: allWorkers.flatMap<Event>(({ events }) => events),
  log: committed(),
  wallClockOffset: Date.now() - now(),
  patience: PATIENCE,
  grace: SESSION_TIMEOUT + 500,
  disruptions: nemesis.disruptions,
  unaware: nemesis.unaware,
}
const broken = violations(evidence)
const complaints = allWorkers.flatMap(worker => worker.complaints)
console.log(tableOf({ minutes, seed, evidence, broken, faults: nemesis.counts, leftWatches, drained, complaints }))
process.exitCode = broken.length + leftWatches + complaints.length === 0 ? 0 : 1

async function watchCount(): Promise<number> {
  const counts = await Promise.all(ensemble.servers.map(server => server.watchCount()))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** What a majority has written: a leader that falls may leave behind what it alone knew of. */
function committed(): Transaction[] {
  const known = new Map<bigint, { transaction: Transaction; by: number }>()
  for (const server of ensemble.servers)
    for (const transaction of readTransactionLog(server)) {
      const one = known.get(transaction.zxid) ?? { transaction, by: 0 }
      one.by++
      known.set(transaction.zxid, one)
    }
  return [...known.values()]
    .filter(({ by }) => by > ensemble.servers.length / 2)
    .map(({ transaction }) => transaction)
    .sort((a, b) => (a.zxid < b.zxid ? -1 : 1))
}
