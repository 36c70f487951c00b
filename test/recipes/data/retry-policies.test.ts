import { expect } from 'chai'
import type { RetryPolicy } from '../../../src/index.ts'
import {
  exponentialBackoffRetry,
  kazooRetry,
  retryForever,
  retryNTimes,
  retryPolicy,
  retryUntilElapsed,
} from '../../../src/recipes/index.ts'
import { ZooKeeperError } from '../../../src/protocol/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('policies of retry()', (fixture, { itInVirtualTime }) => {
  const loss = () => new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown' })

  /** Returns the pauses between the attempts of a task that always fails, in milliseconds. */
  const pausesOf = async (policy: RetryPolicy, random = () => 0.5, most = 8): Promise<number[]> => {
    const client = await fixture.open({ random })
    const { clock } = fixture.server
    const times: number[] = []
    const task = () => {
      times.push(clock.now())
      return Promise.reject(times.length > most ? new Error('enough') : loss())
    }
    await failureOf(client.retry(task, { policy }))
    await client.close()
    return times.slice(1).map((time, i) => Math.round(time - (times[i] ?? 0)))
  }

  itInVirtualTime('are those of Curator', async () => {
    expect(await pausesOf(retryForever({ pause: 20 }))).to.deep.equal(Array(8).fill(20))
    expect(await pausesOf(retryNTimes({ retries: 2, pause: 30 }))).to.deep.equal([30, 30])
    expect(await pausesOf(retryNTimes({ retries: 0, pause: 30 }))).to.deep.equal([])
    expect(await pausesOf(retryUntilElapsed({ within: 100, pause: 40 }))).to.deep.equal([40, 40, 40])
    const [least, middle, most] = [() => 0, () => 0.5, () => 0.999]
    const exponential = exponentialBackoffRetry({ base: 10, retries: 4 })
    expect(await pausesOf(exponential, least)).to.deep.equal([10, 10, 10, 10])
    expect(await pausesOf(exponential, middle)).to.deep.equal([10, 20, 40, 80])
    expect(await pausesOf(exponential, most)).to.deep.equal([10, 30, 70, 150])
    const bounded = exponentialBackoffRetry({ base: 10, retries: 4, longest: 50 })
    expect(await pausesOf(bounded, most)).to.deep.equal([10, 30, 50, 50])
  })

  itInVirtualTime('are that of kazoo', async () => {
    expect(await pausesOf(kazooRetry())).to.deep.equal([100])
    expect(await pausesOf(kazooRetry({ maxTries: 4, maxDelay: 300 }))).to.deep.equal([100, 200, 300, 300])
    // The jitter of a pause is also that of the next one.
    expect(await pausesOf(kazooRetry({ maxTries: 3, maxJitter: 0.5 }), () => 0)).to.deep.equal([50, 50, 50])
    expect(await pausesOf(kazooRetry({ maxTries: Infinity, deadline: 750 }))).to.deep.equal([100, 200, 400])
  })

  itInVirtualTime('can be written by the caller, and know the failures, the time and the last pause', async () => {
    const states: unknown[] = []
    const policy = retryPolicy(({ failures, elapsed, previous }) => {
      states.push([failures, elapsed, previous])
      return failures === 3 ? undefined : 10 * failures
    })
    await pausesOf(policy)
    expect(states).to.deep.equal([
      [1, 0, undefined],
      [2, 10, 10],
      [3, 30, 20],
    ])
  })

  itInVirtualTime(
    'reject with the last error when they give up, and at once with any error but CONNECTIONLOSS',
    async () => {
      const client = await fixture.open()
      const errors = [loss(), loss(), loss()]
      let nth = 0
      const policy = retryNTimes({ retries: 2, pause: 10 })
      expect(await failureOf(client.retry(() => Promise.reject(errors[nth++] as Error), { policy }))).to.equal(
        errors[2],
      )
      const other = new Error('mine')
      nth = 0
      const failing = () => {
        nth++
        return Promise.reject(other)
      }
      expect(await failureOf(client.retry(failing, { policy }))).to.equal(other)
      expect(nth).to.equal(1)
    },
  )

  itInVirtualTime('count each pause without a connection as a failure, and send nothing then', async () => {
    const { client, faultyDial } = await fixture.openWithFaults({ sessionTimeout: 20_000 })
    const { clock } = fixture.server
    faultyDial.refuse()
    const startedAt = clock.now()
    const call = client.retry(() => expect.fail('the task ran'), { policy: retryNTimes({ retries: 4, pause: 100 }) })
    expect(await failureOf(call)).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    expect(clock.now() - startedAt).to.equal(400)
    faultyDial.accept()
    await client.whenConnected()
  })

  itInVirtualTime('end a pause when the client is connected again', async () => {
    const { client, faultyDial } = await fixture.openWithFaults({ sessionTimeout: 20_000 })
    const { clock } = fixture.server
    faultyDial.refuse()
    const call = client.retry(() => client.exists('/'), { policy: retryNTimes({ retries: 1, pause: 60_000 }) })
    await fixture.sleep(200)
    const acceptedAt = clock.now()
    faultyDial.accept()
    expect(await call).not.to.equal(null)
    expect(clock.now() - acceptedAt).to.be.below(2000)
  })

  itInVirtualTime('end with the signal’s reason, or with the session, and leave no timer', async () => {
    const client = await fixture.open()
    const timers = fixture.timerCount()
    const abort = new AbortController()
    const reason = new Error('cancelled')
    const policy = retryForever({ pause: 1000 })
    const cancelled = failureOf(client.retry(() => Promise.reject(loss()), { policy, signal: abort.signal }))
    await fixture.sleep(10)
    abort.abort(reason)
    expect(await cancelled).to.equal(reason)
    expect(fixture.timerCount()).to.equal(timers)
    let isFirst = true
    const task = () => {
      const first = isFirst
      isFirst = false
      return first ? Promise.reject(loss()) : client.exists('/')
    }
    const ended = failureOf(client.retry(task, { policy }))
    await fixture.expire(client)
    expect(await ended).to.have.property('code', 'SESSIONEXPIRED')
  })

  itInVirtualTime('are refused if an option is missing or invalid, and so is a value that is no policy', async () => {
    for (const make of [
      () => retryForever({} as never),
      () => retryForever(undefined as never),
      () => retryForever({ pause: -1 }),
      () => retryNTimes({ retries: 1.5, pause: 1 }),
      () => retryUntilElapsed({ within: 100, pause: 0 }),
      () => exponentialBackoffRetry({ base: 0, retries: 1 }),
      () => exponentialBackoffRetry({ base: 1, retries: 1, longst: 5 } as never),
      () => kazooRetry({ maxJitter: 2 }),
    ])
      expect(make).to.throw().with.property('code', 'BADARGUMENTS')
    const client = await fixture.open()
    const failed = await failureOf(client.retry(() => Promise.resolve(), { policy: 5 as never }))
    expect(failed).to.include({ code: 'BADARGUMENTS', op: 'retry' })
  })
})
