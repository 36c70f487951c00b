import { expect } from 'chai'
import { Contention } from '../../bench/contention.ts'
import type { Grant, Recipe } from '../../bench/recipes.ts'
import type { Client } from '../../src/index.ts'

describe('contention', () => {
  it('hands the lock from one to the next, and queues the one who released again', async () => {
    const { contention, queue, failures } = contend(3)
    await contention.gather()
    expect(queue).to.deep.equal([0, 1, 2])
    expect(await contention.handOver()).to.be.at.least(0)
    expect(queue).to.deep.equal([1, 2])
    contention.rejoin()
    expect(queue).to.deep.equal([1, 2, 0])
    await contention.handOver()
    contention.rejoin()
    expect(queue).to.deep.equal([2, 0, 1])
    await contention.disperse()
    expect(queue).to.deep.equal([])
    expect(failures).to.deep.equal([])
  })

  it('fails where two hold the lock at once', async () => {
    const { contention, failures } = contend(3, { holders: 2 })
    await contention.gather()
    expect(String(failures[0])).to.contain('two contenders hold the lock at once')
  })

  it('fails where one cannot queue', async () => {
    const { contention, failures } = contend(2, { refuse: 1 })
    await contention.gather()
    expect(failures.map(String)).to.deep.equal(['Error: refused'])
  })
})

/** Contenders for a lock in memory. It is right unless it is told to let more than one in, or to refuse one. */
function contend(size: number, { holders = 1, refuse = NaN } = {}) {
  const queue: number[] = []
  const waiting = new Map<number, (grant: Grant) => void>()
  const admit = () => {
    for (const number of queue.slice(0, holders)) {
      waiting.get(number)?.({ release: () => leave(number) })
      waiting.delete(number)
    }
  }
  const leave = (number: number) => {
    if (queue.includes(number)) queue.splice(queue.indexOf(number), 1)
    waiting.delete(number)
    admit()
    return Promise.resolve()
  }
  const acquire = (number: number, signal: AbortSignal) => {
    if (number === refuse) return Promise.reject(new Error('refused'))
    queue.push(number)
    return new Promise<Grant>((resolve, reject) => {
      waiting.set(number, resolve)
      signal.addEventListener('abort', () => {
        if (waiting.has(number)) void leave(number)
        reject(signal.reason as Error)
      })
      admit()
    })
  }
  let made = 0
  const recipe: Recipe = {
    name: 'in memory',
    theory: { notifications: 0, bytes: 0 },
    lock: () => {
      const number = made++
      return { acquire: ({ signal }) => acquire(number, signal) }
    },
  }
  const failures: unknown[] = []
  const sessions = Array.from({ length: size }, () => ({ settled: () => Promise.resolve() }) as unknown as Client)
  const contention = new Contention(recipe, sessions, '/lock', error => failures.push(error))
  return { contention, queue, failures }
}
