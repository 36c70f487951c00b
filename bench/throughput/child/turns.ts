// A measurement, and measurements in turns with other processes.
import { once } from 'node:events'
import type { Request, Sample } from '../workloads.ts'

/** Says that the process is ready, and measures at each request of the parent process, until it requests the end. */
export async function answerTurns(measure: () => Promise<Sample>): Promise<void> {
  let reply: Sample | 'ready' = 'ready'
  for (;;) {
    const request = once(process, 'message') as Promise<[Request]>
    process.send?.(reply)
    if ((await request)[0] === 'end') return
    reply = await measure()
  }
}

/** Measures work, which resolves with the number of its operations. */
export async function measured(work: () => Promise<number>): Promise<Sample> {
  const before = { cpu: process.cpuUsage(), now: performance.now() }
  const operations = await work()
  const { user, system } = process.cpuUsage(before.cpu)
  return { operations, cpu: user + system, ms: performance.now() - before.now }
}
