// supervise() runs a function again on a new session when its session has expired.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import {
  perms,
  supervise,
  type ACL,
  type Client,
  type ConnectOptions,
  type Dial,
  type SessionTask,
  type Stat,
} from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { onBothServers } from '../recipes/fixture.ts'
import { dependentSignalCount } from '../support/dependent-signals.ts'
import { abortOf, failureOf } from '../support/settled.ts'
import { FaultyDial } from '../support/faulty-dial.ts'

onBothServers('supervise', (fixture, { itInVirtualTime, itEverywhere }) => {
  const run = <T>(work: SessionTask<T>, options?: ConnectOptions) =>
    supervise(fixture.server.connectString, { ...fixture.server.options, ...options }, work)

  itInVirtualTime('resolves with the result of the task, and closes the session', async () => {
    let id = 0n
    const value = await run(async zk => {
      id = zk.sessionId
      await zk.create('/supervised', '', { mode: 'ephemeral' })
      return 42
    })
    expect(value).to.equal(42)
    const observer = await fixture.open()
    expect(id).not.to.equal(0n)
    expect(await observer.exists('/supervised')).to.equal(null)
    await observer.close()
  })

  itInVirtualTime('has closed each session when it runs the task again, resolves or rejects', async () => {
    const states: string[] = []
    const clients: Client[] = []
    const note = () => states.push(clients.map(({ state }) => state).join(' '))
    const ends: readonly SessionTask<unknown>[] = [
      (_, signal) => Promise.all([abortOf(signal), fixture.expire(clients.at(-1) as Client)]),
      () => 'result',
      () => Promise.reject(new Error('mine')),
    ]
    for (const [nth, end] of ends.entries()) {
      const runs: SessionTask<unknown>[] = [end, () => undefined]
      const running = run((zk, signal) => {
        if (clients.length > 0) note()
        clients.push(zk)
        return runs.shift()?.(zk, signal)
      })
      await running.then(note, note)
      expect(states.splice(0).join(', '), `${nth}`).to.match(/^((closed|expired)( |, |$))+$/)
    }
  })

  itInVirtualTime('connects to an expired session once, which tells that, and not again to close it', async () => {
    let connects = 0
    const dial: Dial = (address, handler) => {
      connects++
      return fixture.server.options.dial?.(address, handler) as never
    }
    let runs = 0
    const task: SessionTask<unknown> = (zk, signal) =>
      ++runs < 3 ? Promise.all([abortOf(signal), fixture.expire(zk)]) : undefined
    await run(task, { dial })
    // Each of the two that have expired is offered once more, because only a server can say so.
    expect([runs, connects]).to.deep.equal([3, 3 + 2])
  })

  itInVirtualTime('runs the task again on a new session after each expiry, one run at a time', async () => {
    const ids = new Set<bigint>()
    let running = 0
    const tokens = await run(async (zk, signal) => {
      expect(++running).to.equal(1)
      ids.add(zk.sessionId)
      const held = await new Mutex(zk, '/supervised-lock').acquire({ signal })
      if (ids.size < 3) {
        await Promise.all([abortOf(signal), fixture.expire(zk)])
        expect(held.signal.aborted).to.equal(true)
      }
      running--
      return ids.size
    })
    expect(tokens).to.equal(3)
  })

  itInVirtualTime('uses the options as they were at the call, also in later sessions', async () => {
    const secret = Buffer.from('ann:secret')
    const auth = [{ scheme: 'digest', auth: secret as Uint8Array | string }]
    const acl: ACL[] = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]
    const options: ConnectOptions = { auth, acl, sessionTimeout: 5000 }
    const seen: unknown[] = []
    const running = run(async (zk, signal) => {
      const { path } = await zk.create('/supervised-', '', { mode: 'ephemeralSequential' })
      const [entry] = (await zk.getACL(path)).acl
      seen.push([zk.sessionTimeout, (await zk.whoAmI()).some(({ user }) => user === 'ann'), entry?.perms])
      if (seen.length < 2) await Promise.all([abortOf(signal), fixture.expire(zk)])
    }, options)
    secret.fill('x')
    auth.length = 0
    acl.splice(0, 1, { perms: perms.read, id: { scheme: 'ip', id: '10.0.0.1' } })
    options.sessionTimeout = 7000
    await running
    const expected = [5000, true, perms.all]
    expect(seen).to.deep.equal([expected, expected])
  })

  itInVirtualTime('runs the task again if the lease has ended, regardless of the error of the task', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    let runs = 0
    const work = async (_zk: Client, signal: AbortSignal) => {
      if (++runs > 1) return
      faultyDial.refuse()
      await abortOf(signal)
      faultyDial.accept()
      throw new Error('lost')
    }
    await run(work, { dial: faultyDial.dial })
    expect(runs).to.equal(2)
  })

  itInVirtualTime('runs the task again if the server refuses a write because it has expired the session', async () => {
    const { faults } = fixture.embedded
    let runs = 0
    const path = await run(async zk => {
      if (++runs === 1) faults.replace('create', 'SESSIONEXPIRED', { session: zk.sessionId })
      const created = await zk.create('/supervised')
      return created.path
    })
    expect([path, runs]).to.deep.equal(['/supervised', 2])
  })

  itInVirtualTime('keeps nothing of earlier sessions at the signal of its caller', async () => {
    const stop = new AbortController()
    let runs = 0
    const work: SessionTask<void> = async (zk, signal) => {
      if (++runs === 10) return
      await Promise.all([abortOf(signal), fixture.expire(zk)])
    }
    await run(work, { signal: stop.signal })
    expect(runs).to.equal(10)
    expect(dependentSignalCount(stop.signal)).to.be.below(5)
    expect(getEventListeners(stop.signal, 'abort')).to.deep.equal([])
  })

  itInVirtualTime('rejects with the error of the task while the session lives', async () => {
    const error = new Error('a bug in the task')
    const call = run(() => {
      throw error
    })
    expect(await failureOf(call)).to.equal(error)
  })

  itInVirtualTime('waits for a server that is not reachable yet', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    faultyDial.refuse()
    const { clock } = fixture.server
    clock.setTimeout(() => faultyDial.accept(), 600_000)
    await run(() => undefined, { dial: faultyDial.dial, connectTimeout: 20 })
    expect(clock.now()).to.be.above(600_000)
  })

  itInVirtualTime(
    'warns once, with the hosts and their answers, if no server is there at the start and onConnectionError is not set',
    async () => {
      const warnings: (Error & { code?: string })[] = []
      const onWarning = (warning: Error) => void warnings.push(warning)
      process.on('warning', onWarning)
      const errors: Error[] = []
      for (const onConnectionError of [undefined, (error: Error) => void errors.push(error)]) {
        let refusals = 0
        const dial: Dial = (address, handler) => {
          if (++refusals > 5) return fixture.server.dial(address, handler)
          const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
          queueMicrotask(() => handler.closed(cause))
          return { write: () => undefined, destroy: () => undefined }
        }
        expect(await run(() => 42, { dial, onConnectionError: onConnectionError as never })).to.equal(42)
        expect(refusals).to.equal(6)
      }
      await new Promise(setImmediate)
      process.off('warning', onWarning)
      expect(warnings.map(({ code }) => code)).to.deep.equal(['ZKWIRE_UNREACHABLE'])
      expect(warnings[0]?.message).to.match(/^supervise\(\) keeps trying to connect\. NOSERVER: .*connect ECONNREFUSED/)
      expect(errors).to.have.length(5)
    },
  )

  itInVirtualTime('treats null as an omitted signal', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    faultyDial.refuse()
    fixture.server.clock.setTimeout(() => faultyDial.accept(), 100)
    await run(() => undefined, { dial: faultyDial.dial, connectTimeout: 20, signal: null as never })
  })

  itInVirtualTime('stops waiting for a server when its signal aborts', async () => {
    const abort = new AbortController()
    const faultyDial = new FaultyDial(fixture.server.dial)
    faultyDial.refuse()
    const call = run(() => 'never', { dial: faultyDial.dial, connectTimeout: 20, signal: abort.signal })
    const reason = new Error('cancelled')
    fixture.server.clock.setTimeout(() => abort.abort(reason), 100)
    expect(await failureOf(call)).to.equal(reason)
  })

  itInVirtualTime('rejects with the reason of its signal, after the task has ended', async () => {
    const abort = new AbortController()
    const reason = new Error('shut down')
    let ended = false
    const work = async (_zk: Client, signal: AbortSignal) => {
      abort.abort(reason)
      expect(signal.aborted).to.equal(true)
      await Promise.resolve()
      ended = true
    }
    const call = run(work, { signal: abort.signal })
    expect(await failureOf(call)).to.equal(reason)
    expect(ended).to.equal(true)
  })

  itEverywhere('keeps the connection when its signal aborts, so that the task can clean up', async () => {
    const stop = new AbortController()
    const reason = new Error('SIGTERM')
    const path = `${fixture.path}/of-the-task`
    const call = run(
      async (zk, signal) => {
        await zk.create(path)
        const stopped = abortOf(signal)
        stop.abort(reason)
        await stopped
        await zk.delete(path)
      },
      { signal: stop.signal },
    )
    expect(await failureOf(call)).to.equal(reason)
    expect(await fixture.observer.exists(path)).to.equal(null)
  })

  itInVirtualTime(
    'rejects with AUTHFAILED, without another session, if the server refuses its credentials',
    async () => {
      let runs = 0
      const call = run(async (zk, signal) => {
        runs++
        await Promise.all([abortOf(signal), failureOf(zk.addAuth('unknown', 'secret'))])
      })
      expect(await failureOf(call)).to.include({ code: 'AUTHFAILED', op: 'supervise' })
      expect(runs).to.equal(1)
    },
  )

  itInVirtualTime('rejects at once if its signal aborts just before its pause', async () => {
    const stop = new AbortController()
    const reason = new Error('stop')
    const { clock } = fixture.server
    let endedAt = NaN
    const random = () => {
      if (!Number.isNaN(endedAt)) stop.abort(reason)
      return 0.5
    }
    const work: SessionTask<void> = async (zk, signal) => {
      await Promise.all([abortOf(signal), fixture.expire(zk)])
      endedAt = clock.now()
    }
    expect(await failureOf(run(work, { signal: stop.signal, random }))).to.equal(reason)
    expect(clock.now()).to.equal(endedAt)
  })

  itInVirtualTime(
    'closes the session in two seconds when its signal aborts while no server can be reached',
    async () => {
      for (const isLostFirst of [true, false]) {
        const faultyDial = new FaultyDial(fixture.server.dial)
        const stop = new AbortController()
        const reason = new Error('SIGTERM')
        let stoppedAt = NaN
        let id = 0n
        const stopping = run(
          (zk, signal) =>
            new Mutex(zk, '/supervised-lock').use(
              async () => {
                id = zk.sessionId
                if (isLostFirst) {
                  faultyDial.refuse()
                  await fixture.until(() => zk.state === 'suspended')
                }
                const ended = abortOf(signal)
                stoppedAt = fixture.server.clock.now()
                stop.abort(reason)
                await ended
                expect(zk.state).to.equal(isLostFirst ? 'suspended' : 'connected')
                if (!isLostFirst) faultyDial.refuse()
              },
              { signal },
            ),
          { dial: faultyDial.dial, signal: stop.signal, sessionTimeout: 30_000 },
        )
        expect(await failureOf(stopping)).to.equal(reason)
        expect(fixture.server.clock.now() - stoppedAt).to.equal(2000)
        // The server keeps the node until the session expires.
        fixture.embedded.expireSession(id)
      }
      await fixture.observer.deleteRecursive('/supervised-lock')
    },
  )

  itInVirtualTime('starts a new session if the session of the option `session` has expired', async () => {
    const dead = await fixture.open()
    const session = { id: dead.sessionId, password: dead.sessionPassword }
    await dead.close()
    const id = await run(zk => zk.sessionId, { session })
    expect(id).not.to.equal(session.id)
  })

  itInVirtualTime(
    'starts a new session on wiped servers, which close connections of clients with a greater last zxid',
    async () => {
      await using wiped = await Server.start({ listen: false, clock: fixture.server.clock })
      let { dial } = fixture.server
      let runs = 0
      const work = async (zk: Client, signal: AbortSignal) => {
        if (++runs > 1) return
        await zk.exists('/')
        dial = wiped.dial
        fixture.embedded.dropConnections()
        await abortOf(signal)
      }
      await run(work, { dial: (address, handler) => dial(address, handler) })
      expect(runs).to.equal(2)
      expect(wiped.snapshot().zxid > 0n).to.equal(true)
    },
  )

  itInVirtualTime('resolves with the result of a task that closes its session', async () => {
    let runs = 0
    const value = await run(zk => {
      void zk.close()
      return ++runs
    })
    expect([value, runs]).to.deep.equal([1, 1])
  })

  itInVirtualTime(
    'asks the servers of the last updateServerList() for the next session, below the same chroot',
    async () => {
      const dialled: string[] = []
      const dial: Dial = (address, handler) => {
        dialled.push(address.host)
        return fixture.server.dial(address, handler)
      }
      const options = { ...fixture.server.options, dial }
      const roots: (Stat | null)[] = []
      await supervise(`old${fixture.path}`, options, async (zk, signal) => {
        roots.push(await zk.exists('/'))
        if (roots.length > 1) return
        zk.updateServerList('new1,new2')
        await zk.whenConnected()
        dialled.length = 0
        await Promise.all([abortOf(signal), fixture.expire(zk)])
      })
      const root = await fixture.observer.exists(fixture.path)
      expect(roots).to.deep.equal([root, root])
      expect(dialled).to.not.include('old')
      expect(dialled.length).to.be.above(0)
    },
  )

  itInVirtualTime(
    'pauses longer after each session that is lost at once, and briefly after one that lasted',
    async () => {
      const { clock } = fixture.server
      const pauses: number[] = []
      let endedAt: number | undefined
      await run(
        async (zk, signal) => {
          if (endedAt !== undefined) pauses.push(clock.now() - endedAt)
          if (pauses.length === 9) return
          if (pauses.length > 5) await fixture.sleep(2500)
          await Promise.all([abortOf(signal), fixture.expire(zk)])
          endedAt = clock.now()
        },
        { random: () => 0.5 },
      )
      expect(pauses).to.deep.equal([75, 150, 300, 600, 750, 750, 37.5, 37.5, 37.5])
    },
  )

  itInVirtualTime('rejects invalid arguments without a retry', async () => {
    expect(await failureOf(supervise('', {}, () => 0))).to.have.property('code', 'BADARGUMENTS')
    for (const [options, work] of [[{}], [() => 0], [undefined, () => 0]])
      expect(
        await failureOf(supervise(fixture.server.connectString, options as never, work as never)),
      ).to.have.property('code', 'BADARGUMENTS')
  })
})
