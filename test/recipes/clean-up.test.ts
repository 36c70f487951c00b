// What must go, goes: also when the view is closed, the server is busy, or the caller waits in the wrong place.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { HerdMutex, LockError, Mutex, ReadWriteLock, type Held } from '../../src/recipes/index.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { onBothServers } from './fixture.ts'

onBothServers('the clean-up of a lock', (fixture, { it, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    ;({ observer, path } = fixture)
  })

  itEverywhere('goes on when the view that took the lock is closed, for a holder and for a waiter', async () => {
    const client = await fixture.open()
    const [view, waitingView] = [client.chroot('/'), client.chroot('/')]
    const held = await new Mutex(view, path).acquire()
    const waiting = new Mutex(waitingView, path).acquire()
    await fixture.until(async () => (await observer.getChildren(path)).children.length === 2)
    await Promise.all([view.close(), waitingView.close()])
    await held.release()
    await (await waiting).release()
  })

  it('of a client that is being closed is done when the session is over', async () => {
    const client = await fixture.open()
    const held = await new Mutex(client, path).acquire()
    fixture.embedded.pause()
    const closing = client.close()
    let isReleased = false
    const releasing = held.release().then(() => (isReleased = true))
    await fixture.sleep(100)
    expect(isReleased, 'while the server has not heard of it').to.equal(false)
    fixture.embedded.resume()
    await releasing
    expect(fixture.embedded.snapshot().nodes.has(held.path)).to.equal(false)
    await closing
  })

  it('waits until the client may ask for anything again', async () => {
    const client = await fixture.open({ maxPending: 3 })
    const held = await new Mutex(client, path).acquire()
    const busy = Array.from({ length: 3 }, () => client.sync('/'))
    await Promise.all([held.release(), ...busy])
  })

  for (const hidden of [['getData'], ['getData', 'exists']] as const)
    it(`leaves no node that one may not read, by ${hidden.join(' and ')}, when the answer to its create is lost`, async () => {
      const { faults } = fixture.embedded
      const client = await fixture.open()
      const session = client.sessionId
      for (const kind of hidden) faults.replace(kind, 'NOAUTH', { times: Infinity, session })
      const lost = faults.drop('create', { session })
      const outcome = await outcomeOf(new Mutex(client, path).acquire())
      await lost.triggered
      if (hidden.length > 1) expect(outcome).to.have.property('code', 'NOAUTH')
      else await (outcome as Held).release()
      await client.settled()
      expect(await fixture.childPaths()).to.deep.equal([])
    })

  it('leaves no read node that may not be looked at when a downgrade fails for that', async () => {
    const client = await fixture.open()
    const held = await new ReadWriteLock(client, path).writeLock.acquire()
    fixture.embedded.faults.replace('exists', 'NOAUTH', { session: client.sessionId })
    expect(await failureOf(held.downgrade())).to.have.property('code', 'NOAUTH')
    expect(await fixture.childPaths()).to.deep.equal([held.path])
    await held.release()
  })

  it('has the pause before it tries again end with the session', async () => {
    const client = await fixture.open()
    const held = await new Mutex(client, path).acquire()
    const { faults } = fixture.embedded
    const refused = faults.replace('delete', 'THROTTLEDOP', { times: Infinity, session: client.sessionId })
    const releasing = held.release()
    await refused.triggered
    await fixture.sleep(3000)
    const timers = fixture.timerCount()
    await client.close()
    expect(fixture.timerCount(), 'the pause’s and the session’s are gone').to.equal(timers - 2)
    await releasing
  })

  it('has the pause of who watches his node end when the lock is released', async () => {
    const client = await fixture.open()
    const timersBefore = fixture.timerCount()
    fixture.embedded.faults.replace('exists', 'THROTTLEDOP', { times: Infinity, session: client.sessionId })
    const held = await new Mutex(client, path).acquire({ watchOwnNode: true })
    await fixture.sleep(3000)
    expect(fixture.timerCount()).to.equal(timersBefore + 1)
    await held.release()
    expect(fixture.timerCount(), 'timers left behind').to.equal(timersBefore)
  })

  it('does not hold up settled(), which may be waited for under the lock', async () => {
    const client = await fixture.open()
    await new Mutex(client, path).use(() => client.settled())
  })

  itEverywhere('leaves alone a waiter on a node whose watches somebody else removes', async () => {
    const [holder, client] = [await fixture.open(), await fixture.open()]
    const held = await new Mutex(holder, path).acquire()
    const waiting = new Mutex(client, path).acquire()
    await fixture.until(async () => {
      await client.sync(path)
      return client.checkWatches(held.path).then(
        () => true,
        () => false,
      )
    })
    await client.removeWatches(held.path).catch(() => undefined)
    await held.release()
    await (await waiting).release()
  })

  it('is not trusted to a dialect whose pattern does not find its own nodes, or that there is not', async () => {
    const client = await fixture.open()
    for (const dialect of [{ prefix: 'y-', pattern: /x-(\d+)$/ }, 'curatr' as never])
      expect(() => new Mutex(client, path, { dialect }))
        .to.throw(LockError)
        .with.property('code', 'UNSUPPORTED')
  })

  it('minds no pattern that remembers where it stood', async () => {
    const clients = await fixture.openMany(4)
    const dialect = { prefix: (uuid: string) => `${uuid}-mine-`, pattern: /-mine-(\d+)$/g }
    let inside = 0
    const pass = (client: Client) =>
      new HerdMutex(client, path, { dialect }).use(async () => {
        expect(++inside).to.equal(1)
        await client.exists('/')
        inside--
      })
    await Promise.all(clients.map(pass))
  })
})
