// Two libraries in one directory that go by different names let one in each. That is to be known.
import { callLater } from '../../client/recipe-support.ts'
import type { WaitStrategy } from './wait-strategies.ts'
import { foreignContendersIn } from './dialect.ts'
import type { LockQueue } from './queue.ts'

/** @param names of their nodes in the directory */
export type OnForeignContenders = (names: readonly string[], directory: string) => void

/** Is shown the names in a directory, and reports the first strangers among them. */
export type ForeignContenderReport = (queue: LockQueue, children: readonly string[]) => void

export function foreignContenderReport(report: OnForeignContenders = warn): ForeignContenderReport {
  let isDone = false
  return ({ client, names, directory }, children) => {
    const strangers = isDone ? [] : foreignContendersIn(children, names)
    if (strangers.length === 0) return
    isDone = true
    callLater(client, () => report(strangers, directory))
  }
}

/** Looks as the other does, and reports strangers. */
export function reportForeignContenders(waiting: WaitStrategy, onStrangers?: OnForeignContenders): WaitStrategy {
  const report = foreignContenderReport(onStrangers)
  return {
    ...waiting,
    async snapshot(queue, signal) {
      const seen = await waiting.snapshot(queue, signal)
      report(queue, seen.children)
      return seen
    },
  }
}

const warn: OnForeignContenders = ([name], directory) =>
  process.emitWarning(
    `${directory} holds nodes such as ${name}, whose owners queue by other names than this lock: neither waits for the other`,
    { code: 'ZKWIRE_FOREIGN_CONTENDERS' },
  )
