// Many calls under way, on a server that answers at once.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { connect } from '../../../src/index.ts'
import { CuttableDial } from '../../harness/cuttable-dial.ts'
import { SESSION_TIMEOUT } from '../../harness/sessions.ts'
import { paths } from '../../throughput/workloads.ts'
import type { Task } from '../workloads.ts'
import { CpuMeter, repeated, type Probe, type Probes } from './probe.ts'

export async function calls({ size, mock }: Task): Promise<Probes> {
  const line = new CuttableDial()
  const client = await connect(mock, {
    ...{ sessionTimeout: SESSION_TIMEOUT, maxPending: size, dial: line.dial, random: () => 0 },
  })
  const { signal } = new AbortController()
  const read = () => client.getData(paths.data)
  const all = () => Array.from({ length: size }, read)
  return {
    getData: steady(size, read),
    promise: bare(size),
    'one signal': steady(size, () => client.getData(paths.data, { signal })),
    queued: repeated(async () => {
      line.down()
      const waiting = all()
      line.up()
      await Promise.all(waiting)
      return size
    }),
    lost: repeated(async () => {
      await client.whenConnected()
      const lost = Promise.allSettled(all())
      // They leave at the end of the turn.
      await turn()
      line.cut()
      const failed = (await lost).filter(({ status }) => status === 'rejected').length
      return failed
    }),
  }
}

/** ms. */
const POLL_INTERVAL = 5

/** So many lines of calls, each of which calls again when it is answered, for as long as is measured. */
function steady(lines: number, call: () => Promise<unknown>): Probe {
  return async span => {
    let isOver = false
    let count = 0
    const line = async () => {
      do {
        await call()
        count++
      } while (!isOver)
    }
    const all = Promise.all(Array.from({ length: lines }, line))
    while (count < lines) await turn()
    const [meter, before] = [new CpuMeter(), count]
    while (count === before || !meter.isOver(span)) await delay(POLL_INTERVAL)
    const sample = { operations: count - before, cost: meter.cpu }
    isOver = true
    await all
    return sample
  }
}

/** Answers at a time: about as many as one reading of a socket brings. */
const REPLIES_PER_TURN = 330

/** A promise for each call and a place in a queue, and nothing else: no client can do without. */
function bare(size: number): Probe {
  const queue = new Array<(() => void) | undefined>(size).fill(undefined)
  let [first, next, waiting] = [0, 0, 0]
  const call = () =>
    new Promise<void>(resolve => {
      queue[next] = resolve
      next = (next + 1) % size
      if (++waiting === 1) setImmediate(answer)
    })
  const answer = () => {
    for (let left = Math.min(REPLIES_PER_TURN, waiting); left > 0; left--) {
      queue[first]?.()
      queue[first] = undefined
      first = (first + 1) % size
      waiting--
    }
    if (waiting > 0) setImmediate(answer)
  }
  return steady(size, call)
}
