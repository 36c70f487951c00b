// Reports contenders of another library or dialect in a lock's directory. They and our contenders do not wait for each
// other.
import { callLater } from '../../client/recipe-support.ts'
import type { WaitStrategy } from './wait-strategies.ts'
import { foreignContendersIn } from './dialect.ts'
import type { LockQueue } from './queue.ts'

/**
 * Receives the contenders of other libraries or dialects in a lock's directory.
 * @param names the names of their nodes
 * @param directory the path of the directory
 * @example
 * await using held = await new Mutex(other, '/locks/orders', { dialect: 'kazoo' }).acquire()
 * const onForeignContenders: OnForeignContenders = (names, directory) => {
 *   `${names.length} in ${directory}` // => '1 in /locks/orders'
 * }
 * await new Mutex(zk, '/locks/orders', { onForeignContenders }).use(() => undefined)
 */
export type OnForeignContenders = (names: readonly string[], directory: string) => void

/** Receives each list of children. Reports the first foreign contenders, once. */
export type ForeignContenderReport = (queue: LockQueue, children: readonly string[]) => void

export function foreignContenderReport(report: OnForeignContenders = warn): ForeignContenderReport {
  let isDone = false
  return ({ client, names, directory }, children) => {
    const foreign = isDone ? [] : foreignContendersIn(children, names)
    if (foreign.length === 0) return
    isDone = true
    callLater(client, () => report(foreign, directory))
  }
}

/** Returns the same strategy, which also reports foreign contenders the first time a snapshot contains any. */
export function reportingForeignContenders(
  strategy: WaitStrategy,
  onForeignContenders?: OnForeignContenders,
): WaitStrategy {
  const report = foreignContenderReport(onForeignContenders)
  return {
    ...strategy,
    async snapshot(queue, signal) {
      const snapshot = await strategy.snapshot(queue, signal)
      report(queue, snapshot.children)
      return snapshot
    },
  }
}

const warn: OnForeignContenders = ([name], directory) =>
  process.emitWarning(
    `${directory} contains nodes such as ${name}, named by another library or dialect: their owners and this lock do not wait for each other`,
    { code: 'ZKWIRE_FOREIGN_CONTENDERS' },
  )
