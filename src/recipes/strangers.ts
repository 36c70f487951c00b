// Two libraries in one directory that go by different names let one in each. That is to be known.
import type { Waiting } from './contend.ts'
import { strangersIn } from './dialect.ts'

/** @param names of their nodes in the directory */
export type OnStrangers = (names: readonly string[], directory: string) => void

/** Looks as the other does, and reports the first strangers that it sees. */
export function reportStrangers(waiting: Waiting, report: OnStrangers = warn): Waiting {
  let isReported = false
  return {
    ...waiting,
    async look(queue, signal) {
      const seen = await waiting.look(queue, signal)
      const strangers = isReported ? [] : strangersIn(seen.children, queue.names)
      if (strangers.length > 0) {
        isReported = true
        queueMicrotask(() => report(strangers, queue.directory))
      }
      return seen
    },
  }
}

const warn: OnStrangers = ([name], directory) =>
  process.emitWarning(
    `${directory} holds nodes such as ${name}, whose owners queue by other names than this lock: neither waits for the other`,
    { code: 'ZKWIRE_STRANGERS' },
  )
