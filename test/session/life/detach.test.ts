// detach(): the session goes on, and another process resumes it.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { onBothServers } from '../../recipes/fixture.ts'
import { failureOf } from '../../support/settled.ts'

onBothServers('detach', (fixture, { itEverywhere, itInVirtualTime }) => {
  const open = async (session?: { id: bigint; password: Uint8Array }) =>
    connect(fixture.server.connectString, { ...fixture.server.options, sessionTimeout: 6_000, session })

  itEverywhere(
    'leaves the session with its nodes, answers what is in flight, and another client resumes it',
    async () => {
      const client = await open()
      const lock = new Mutex(client, `${fixture.path}/lock`)
      const held = await lock.acquire()
      const creating = client.create(`${fixture.path}/here`, '', { mode: 'ephemeral' })
      const session = await client.detach()
      expect(session.id).to.equal((await creating).stat.ephemeralOwner)
      expect(client.state).to.equal('closed')
      expect(held.signal.aborted).to.equal(true)
      expect(held.signal.reason).to.have.nested.property('cause.code', 'CLOSED')
      expect(await failureOf(client.exists('/'))).to.include({ code: 'CLOSED' })
      expect(await failureOf(client.detach())).to.include({ code: 'CLOSED' })
      expect(await failureOf(new Mutex(fixture.observer, lock.path).acquire({ timeout: 100 }))).to.include({
        code: 'TIMEOUT',
      })

      const again = await open(session)
      expect(again.sessionId).to.equal(session.id)
      expect((await again.exists(held.path))?.ephemeralOwner).to.equal(session.id)
      await again.delete(held.path)
      await new Mutex(fixture.observer, lock.path).use(() => undefined)
      await again.close()
      expect(await fixture.observer.exists(`${fixture.path}/here`)).to.equal(null)
    },
  )

  itInVirtualTime('does not wait for a server, and is refused after close()', async () => {
    const timers = fixture.timerCount()
    const client = await open()
    await fixture.embedded.stop()
    await fixture.until(() => client.state === 'suspended')
    const { id } = await client.detach()
    expect(client.state).to.equal('closed')
    expect(id).to.equal(client.sessionId)
    await fixture.embedded.start()
    await fixture.observer.whenConnected()
    const other = await open()
    const closing = other.close()
    expect(await failureOf(other.detach())).to.include({ code: 'CLOSED' })
    await closing
    await fixture.sleep(30_000)
    expect(fixture.timerCount()).to.equal(timers)
  })
})
