// Two libraries in one directory that go by different names let one in each. That is to be known.
import type { Waiting } from './contend.ts'
import { strangersIn } from './dialect.ts'
import type { Queue } from './queue.ts'

/** @param names of their nodes in the directory */
export type OnStrangers = (names: readonly string[], directory: string) => void

/** Is shown the names in a directory, and reports the first strangers among them. */
export type StrangerReport = (queue: Queue, children: readonly string[]) => void

export function strangerReport(report: OnStrangers = warn): StrangerReport {
  let isDone = false
  return ({ client, names, directory }, children) => {
    const strangers = isDone ? [] : strangersIn(children, names)
    if (strangers.length === 0) return
    isDone = true
    client.later(() => report(strangers, directory))
  }
}

/** Looks as the other does, and reports strangers. */
export function reportStrangers(waiting: Waiting, onStrangers?: OnStrangers): Waiting {
  const report = strangerReport(onStrangers)
  return {
    ...waiting,
    async look(queue, signal) {
      const seen = await waiting.look(queue, signal)
      report(queue, seen.children)
      return seen
    },
  }
}

const warn: OnStrangers = ([name], directory) =>
  process.emitWarning(
    `${directory} holds nodes such as ${name}, whose owners queue by other names than this lock: neither waits for the other`,
    { code: 'ZKWIRE_STRANGERS' },
  )
