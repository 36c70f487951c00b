// Sessions, watches and locks survive the failure and restart of an ensemble's servers.
import { expect } from 'chai'
import type { Client, State } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import type { EnsembleServer, RunningEnsemble } from '../../environment/running-ensemble.ts'
import { until } from '../../environment/until.ts'
import { abortOf } from '../support/settled.ts'

for (const { name, start } of ensembles)
  describe(`failover in an ensemble (${name})`, () => {
    const sessions = new Sessions()
    let ensemble: RunningEnsemble
    let run = 0
    let path: string

    before(async function () {
      this.timeout(120_000)
      ensemble = await start()
    })
    beforeEach(() => {
      path = `/ensemble-${++run}`
    })
    afterEach(async () => {
      await sessions.settled()
      await sessions.close()
    })
    after(() => ensemble.close())

    /** Records the client's states from now on. */
    function statesOf(client: Client): State[] {
      const states: State[] = []
      client.on('state', state => states.push(state))
      return states
    }

    const open = (timeout = 4000) => sessions.open(ensemble.connectString, { sessionTimeout: timeout })

    it('keeps sessions and locks when the leader is killed, and then grants the lock to the next waiter', async () => {
      const [holder, waiter] = await sessions.openMany(2, ensemble.connectString, { sessionTimeout: 4000 })
      if (!holder || !waiter) throw new Error('fewer than two sessions were opened')
      const ids = [holder.sessionId, waiter.sessionId]
      const held = await new Mutex(holder, path).acquire()
      const next = new Mutex(waiter, path).acquire()
      const observer = await open()
      await until(async () => (await observer.retry(() => observer.getChildren(path))).children.length === 2)

      const leader = await ensemble.leader()
      const killedAt = performance.now()
      await leader.kill()
      await Promise.all([holder, waiter, observer].map(client => client.retry(() => client.sync('/'))))
      const backAfter = performance.now() - killedAt
      expect([holder.sessionId, waiter.sessionId]).to.deep.equal(ids)
      expect(held.signal.aborted).to.equal(false)
      const { stat } = await holder.getData(held.path)
      expect(stat.czxid).to.equal(held.token)
      expect(stat.ephemeralOwner).to.equal(holder.sessionId)
      expect(backAfter).to.be.below(LOAD_ALLOWANCE)

      await held.release()
      const releasedAt = performance.now()
      const granted = await next
      expect(performance.now() - releasedAt).to.be.below(LOAD_ALLOWANCE)
      expect(granted.token > held.token).to.equal(true)
      await granted.release()
      await leader.start()
    })

    it('grants the lock in time if its holder can reach no server but the killed leader', async () => {
      const leader = await ensemble.leader()
      const holder = await sessions.open(leader.connectString, { sessionTimeout: 2000 })
      const waiter = await open()
      const held = await new Mutex(holder, path).acquire()
      const lost = abortOf(held.signal).then(() => performance.now())
      const next = new Mutex(waiter, path).acquire().then(granted => ({ granted, at: performance.now() }))
      await until(async () => (await waiter.getChildren(path)).children.length === 2)
      const killedAt = performance.now()
      // The holder's connect string has no other server.
      await leader.kill()
      const lostAt = await lost
      const { granted, at } = await next
      expect(lostAt).to.be.below(at)
      expect(lostAt - killedAt).to.be.below(2000 + LOAD_ALLOWANCE)
      // A new leader restarts the timeout of every session.
      expect(at - killedAt).to.be.below(2000 + 4000 + LOAD_ALLOWANCE)
      expect(granted.token > held.token).to.equal(true)
      await granted.release()
      await leader.start()
      await until(() => holder.state === 'expired')
    })

    it('keeps all sessions, watches and locks through a rolling restart, and grants the lock in order', async function () {
      this.timeout(120_000)
      const clients = await sessions.openMany(6, ensemble.connectString, { sessionTimeout: 8000 })
      const [holder, ...waiters] = clients as [Client, ...Client[]]
      const ids = clients.map(({ sessionId }) => sessionId)
      const states = clients.map(statesOf)
      const held = await new Mutex(holder, path).acquire()

      const order: number[] = []
      const grants: Promise<void>[] = []
      for (const [i, waiter] of waiters.entries()) {
        const mutex = new Mutex(waiter, path)
        const granted = mutex.acquire().then(async held => {
          order.push(i)
          await held.release()
        })
        grants.push(granted)
        await until(async () => (await holder.getChildren(path)).children.length === i + 2)
      }
      const fired: string[] = []
      await holder.create(`${path}-watched`, '0')
      for (const [i, client] of clients.entries()) {
        await client.sync(`${path}-watched`)
        await client.getData(`${path}-watched`, { watch: ({ type }) => fired.push(`${i} ${type}`) })
      }

      await ensemble.rollingRestart(async () => {
        await Promise.all(clients.map(client => client.whenConnected()))
      })
      expect(fired).to.deep.equal([])
      expect(held.signal.aborted).to.equal(false)
      expect(clients.map(({ sessionId }) => sessionId)).to.deep.equal(ids)
      await holder.retry(() => holder.setData(`${path}-watched`, '1'))
      await until(() => fired.length >= clients.length)
      expect(fired.sort()).to.deep.equal(clients.map((_, i) => `${i} NodeDataChanged`))

      await held.release()
      await Promise.all(grants)
      expect(order).to.deep.equal([0, 1, 2, 3, 4])
      for (const each of states) expect(each).not.to.include('expired')
      // Each server was down for a while, so each client was disconnected at least once.
      expect(states.some(each => each.includes('suspended'))).to.equal(true)
    })

    it('keeps sessions when the quorum is lost and regained, and replies to requests queued meanwhile', async () => {
      const T = 20_000
      const client = await sessions.open(ensemble.connectString, { sessionTimeout: T })
      const { sessionId, sessionTimeout } = client
      const held = await new Mutex(client, path).acquire()
      const states = statesOf(client)
      const last = await ensemble.leader()
      const [first, second] = (await ensemble.followers()) as [EnsembleServer, EnsembleServer]
      await Promise.all([first.kill(), second.kill()])
      // The last server takes a while to notice. Requests sent to it until then are lost with the connection.
      await until(async () => (await ensemble.mode(last)) === undefined && client.state === 'suspended')
      expect(states).to.include('suspended')
      const queued = client.exists(held.path)
      expect(client.validFor()).to.be.within(1, sessionTimeout)
      await Promise.all([first.start(), second.start()])
      const stat = await queued
      expect(stat?.czxid).to.equal(held.token)
      expect(client.sessionId).to.equal(sessionId)
      expect(states).not.to.include('expired')
      expect(held.signal.aborted).to.equal(false)
      await held.release()
    })

    it('aborts the signal of a lock, but does not end the session, if the quorum is lost for longer than the session timeout', async () => {
      const client = await sessions.open(ensemble.connectString, { sessionTimeout: 2000 })
      const held = await new Mutex(client, path).acquire()
      const [first, second] = (await ensemble.followers()) as [EnsembleServer, EnsembleServer]
      await Promise.all([first.kill(), second.kill()])
      await until(() => held.signal.aborted)
      expect(client.validFor()).to.equal(0)
      expect(client.state).to.equal('suspended')
      const error: unknown = await client.exists('/').catch((e: unknown) => e)
      expect(error).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
      await Promise.all([first.start(), second.start()])
      // A new leader restarts the timeouts of all sessions (SessionTrackerImpl). The server decides whether the session
      // came back in time.
      await until(() => client.state === 'connected' || client.state === 'expired')
      await client.settled()
      const observer = await open()
      await observer.sync(path)
      expect((await observer.getChildren(path)).children).to.deep.equal([])
    })
  })
