// Many calls in flight, on a server that answers at once.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { connect } from '../../../src/index.ts'
import { CuttableDial } from '../../harness/cuttable-dial.ts'
import { SESSION_TIMEOUT } from '../../harness/sessions.ts'
import { Meter } from '../../processes/answer-turns.ts'
import { paths } from '../../throughput/workloads.ts'
import type { Task } from '../workloads.ts'
import { repeated, type Probe, type Probes } from './probe.ts'

export async function calls({ size, mock }: Task): Promise<Probes> {
  const link = new CuttableDial()
  const client = await connect(mock, {
    ...{ sessionTimeout: SESSION_TIMEOUT, maxPending: size, dial: link.dial, random: () => 0 },
  })
  const { signal } = new AbortController()
  const read = () => client.getData(paths.data)
  const all = () => Array.from({ length: size }, read)
  return {
    getData: steady(size, read),
    promise: bare(size),
    'one signal': steady(size, () => client.getData(paths.data, { signal })),
    queued: repeated(async () => {
      link.down()
      const waiting = all()
      link.up()
      await Promise.all(waiting)
      return size
    }),
    disconnected: repeated(async () => {
      await client.whenConnected()
      const lost = Promise.allSettled(all())
      // The client writes the requests at the end of the turn.
      await turn()
      link.cut()
      const failed = (await lost).filter(({ status }) => status === 'rejected').length
      return failed
    }),
  }
}

/** The time between two checks whether the measurement is over, ms. */
const POLL_INTERVAL = 5

/** Keeps `callers` calls in flight until the measurement is over: each one is followed by another. */
function steady(callers: number, call: () => Promise<unknown>): Probe {
  return async span => {
    let isOver = false
    let count = 0
    const caller = async () => {
      do {
        await call()
        count++
      } while (!isOver)
    }
    const all = Promise.all(Array.from({ length: callers }, caller))
    while (count < callers) await turn()
    const [meter, before] = [new Meter(), count]
    while (count === before || !meter.isOver(span)) await delay(POLL_INTERVAL)
    const sample = meter.sample(count - before)
    isOver = true
    await all
    return sample
  }
}

/** The number of replies in one turn: about as many as a single read of a socket returns. */
const REPLIES_PER_TURN = 330

/** Uses only a promise and a queue entry for each call, which is the minimum for any client. */
function bare(size: number): Probe {
  const queue = new Array<(() => void) | undefined>(size).fill(undefined)
  let [first, next, waiting] = [0, 0, 0]
  const call = () =>
    new Promise<void>(resolve => {
      queue[next] = resolve
      next = (next + 1) % size
      if (++waiting === 1) setImmediate(reply)
    })
  const reply = () => {
    for (let left = Math.min(REPLIES_PER_TURN, waiting); left > 0; left--) {
      queue[first]?.()
      queue[first] = undefined
      first = (first + 1) % size
      waiting--
    }
    if (waiting > 0) setImmediate(reply)
  }
  return steady(size, call)
}
