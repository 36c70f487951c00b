// The policies of client.retry().
import { expect } from 'chai'
import { connect, exponentialBackoff, fixedPause, ZooKeeperError, type RetryPolicy } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { onBothServers } from '../recipes/fixture.ts'
import { failureOf } from '../support/settled.ts'

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

  itInVirtualTime('pause equally long each time, up to a number of repetitions or a time', async () => {
    expect(await pausesOf(fixedPause({ pause: 20 }))).to.deep.equal(Array(8).fill(20))
    expect(await pausesOf(fixedPause({ pause: 30, retries: 2 }))).to.deep.equal([30, 30])
    expect(await pausesOf(fixedPause({ retries: 1 }))).to.deep.equal([100])
    expect(await pausesOf(fixedPause({ pause: 30, retries: 0 }))).to.deep.equal([])
    expect(await pausesOf(fixedPause({ pause: 40, within: 100 }))).to.deep.equal([40, 40, 40])
  })

  itInVirtualTime('pause twice as long each time, up to a limit, and up to half as long at random', async () => {
    const [longest, middle, shortest] = [() => 0, () => 0.5, () => 1]
    const policy = exponentialBackoff({ pause: 100, retries: 4, longest: 500 })
    expect(await pausesOf(policy, longest)).to.deep.equal([100, 200, 400, 500])
    expect(await pausesOf(policy, middle)).to.deep.equal([75, 150, 300, 375])
    expect(await pausesOf(policy, shortest)).to.deep.equal([50, 100, 200, 250])
    expect(await pausesOf(exponentialBackoff({ within: 1000 }), longest)).to.deep.equal([100, 200, 400, 800])
    expect((await pausesOf(exponentialBackoff(), longest, 12)).at(-1)).to.equal(60_000)
  })

  itInVirtualTime('can be written by the caller, and know the failures and the time', async () => {
    const states: unknown[] = []
    const policy: RetryPolicy = ({ failures, elapsed }) => {
      states.push([failures, elapsed])
      return failures === 3 ? undefined : 10 * failures
    }
    await pausesOf(policy)
    expect(states).to.deep.equal([
      [1, 0],
      [2, 10],
      [3, 30],
    ])
  })

  itInVirtualTime(
    'reject with the last error when they give up, and at once with any error but CONNECTIONLOSS',
    async () => {
      const client = await fixture.open()
      const errors = [loss(), loss(), loss()]
      let nth = 0
      const policy = fixedPause({ retries: 2, pause: 10 })
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
    const call = client.retry(() => expect.fail('the task ran'), { policy: fixedPause({ retries: 4 }) })
    expect(await failureOf(call)).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    expect(clock.now() - startedAt).to.equal(400)
    faultyDial.accept()
    await client.whenConnected()
  })

  itInVirtualTime('end a pause when the client is connected again', async () => {
    const { client, faultyDial } = await fixture.openWithFaults({ sessionTimeout: 20_000 })
    const { clock } = fixture.server
    faultyDial.refuse()
    const call = client.retry(() => client.exists('/'), { policy: fixedPause({ retries: 1, pause: 60_000 }) })
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
    const policy = fixedPause({ pause: 1000 })
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

  itInVirtualTime('leave time for other work if their pause is 0 and there is no connection', async () => {
    const client = await fixture.open()
    let calls = 0
    const policy: RetryPolicy = () => {
      if (++calls > 10_000) throw new Error('the policy blocks the event loop')
      return 0
    }
    fixture.embedded.dropConnections()
    await fixture.until(() => client.state === 'suspended')
    expect(await client.retry(() => client.exists('/missing'), { policy })).to.equal(null)
    expect(calls).to.be.above(0)
  })

  itInVirtualTime('are awaited, and reject with the error of their promise', async () => {
    const client = await fixture.open()
    const error = new Error('late')
    const policy = (() => Promise.reject(error)) as never
    expect(await failureOf(client.retry(() => Promise.reject(loss()), { policy }))).to.equal(error)
  })

  const wrong = { NaN: () => NaN, '-1': () => -1, 'a text': () => 'soon' }
  for (const [what, policy] of Object.entries(wrong))
    itInVirtualTime(`are refused if they return ${what}`, async () => {
      const client = await fixture.open()
      let attempts = 0
      const task = () => Promise.reject(++attempts > 100 ? new Error('repeated without a pause') : loss())
      const failed = await failureOf(client.retry(task, { policy: policy as never }))
      expect(failed).to.include({ code: 'BADARGUMENTS', op: 'retry' })
    })

  itInVirtualTime('are refused if an option is invalid, and so is a value that is no policy', async () => {
    for (const make of [
      () => fixedPause(5 as never),
      () => fixedPause({ pause: 0 }),
      () => fixedPause({ retries: 1.5 }),
      () => exponentialBackoff({ within: -1 }),
      () => exponentialBackoff({ longst: 5 } as never),
    ])
      expect(make).to.throw().with.property('code', 'BADARGUMENTS')
    const client = await fixture.open()
    const failed = await failureOf(client.retry(() => Promise.resolve(), { policy: 5 as never }))
    expect(failed).to.include({ code: 'BADARGUMENTS', op: 'retry' })
  })
})

describe('retry()', () => {
  for (const [name, policy] of Object.entries({ none: undefined, 'a fixed pause': fixedPause({ pause: 10 }) }))
    it(`names the call whose reply was lost, and its fate, if the session ends before it is repeated: policy ${name}`, async () => {
      await using server = await Server.start({ listen: false })
      await using client = await connect(server.connectString, { dial: server.dial })
      const { triggered } = server.faults.drop('create')
      const refusal = server.faults.drop('connect', { times: Infinity })
      const failing = failureOf(client.retry(() => client.create('/written'), { policy }))
      await triggered
      server.expireSession(client.sessionId)
      refusal.release()
      const error = await failing
      expect(error).to.include({ code: 'SESSIONEXPIRED', op: 'create', path: '/written', fate: 'unknown' })
      expect(error).to.have.nested.property('cause.code', 'CONNECTIONLOSS')
      expect(server.snapshot().nodes.has('/written')).to.equal(true)
    })
})
