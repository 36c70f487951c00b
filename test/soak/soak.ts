// The long run: processes contend for locks on three servers under all kinds of faults, for MINUTES (default 10). SEED
// determines the faults. Prints a table. The exit code is 1 if a rule was violated, a watch is left, or a process
// exited unexpectedly or wrote to stderr.
import { setTimeout as delay } from 'node:timers/promises'
import { now, type Event } from '../linearizability/history.ts'
import type { Evidence } from '../linearizability/evidence.ts'
import { violations } from '../linearizability/invariants.ts'
import { readTransactionLog, type Transaction } from '../linearizability/transaction-log.ts'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import { kindsOf } from '../linearizability/workload.ts'
import { Ensemble } from '../../environment/ensemble.ts'
import { seedOf } from '../support/seeded-random.ts'
import { TICK } from '../../environment/running-ensemble.ts'
import { allServe, Nemesis } from './nemesis.ts'
import { tableOf } from './table.ts'
import { WorkerProcess } from './worker-process.ts'

const minutes = Number(process.env['MINUTES'] ?? 10)
const seed = seedOf(process.env['SEED'] ?? 'random')
const WORKERS = 4
const SESSION_TIMEOUT = 2000
const PATIENCE = 6000

console.log(`SEED=${seed} MINUTES=${minutes}`)
await using ensemble = await Ensemble.start({
  linked: true,
  config: { minSessionTimeout: SESSION_TIMEOUT },
  // Empty directories are deleted soon, so that their sequence numbers often start at 0 again.
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
// Wait until the sessions of killed workers have expired.
await delay(SESSION_TIMEOUT + 4 * TICK)

await allServe(ensemble)
// Count the watches before the logs are read. Reading blocks this process, and with it the proxied links between the
// servers.
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

/**
 * Returns the transactions that a majority has logged. A leader that is killed may have logged transactions that no
 * other server has.
 */
function committed(): Transaction[] {
  const known = new Map<bigint, { transaction: Transaction; by: number }>()
  for (const server of ensemble.servers)
    for (const transaction of readTransactionLog(server)) {
      const entry = known.get(transaction.zxid) ?? { transaction, by: 0 }
      entry.by++
      known.set(transaction.zxid, entry)
    }
  return [...known.values()]
    .filter(({ by }) => by > ensemble.servers.length / 2)
    .map(({ transaction }) => transaction)
    .sort((a, b) => (a.zxid < b.zxid ? -1 : 1))
}
