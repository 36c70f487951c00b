// start() of a recipe that outlives sessions: called again, at the same time, in other sessions, and after close().
import { expect } from 'chai'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Membership, PersistentEphemeral, Services } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('start()', (fixture, { itInVirtualTime }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/node`
  })

  const czxidOf = async (node = path) => (await fixture.observer.exists(node))?.czxid

  /** Runs the work while the server does not answer getData of this client, and so no start() can succeed. */
  const whileReadsHang = async (client: Client, work: () => Promise<void>) => {
    const held = fixture.embedded.faults.hold('getData', { session: client.sessionId, times: Infinity })
    await work()
    held.release()
  }

  itInVirtualTime('that fails undoes nothing that an earlier call began', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path, { data: 'x' })
    await node.start(client)
    const czxid = await czxidOf()
    expect(await failureOf(node.start(client, { signal: AbortSignal.abort('late') }))).to.equal('late')
    // The write of the new data, which the second call waits for, does not succeed in time.
    const writing = fixture.embedded.faults.hold('setData', { session: client.sessionId })
    const setting = node.setData('y')
    expect(await failureOf(node.start(client, { timeout: 50 }))).to.have.property('code', 'TIMEOUT')
    writing.release()
    await setting
    await client.settled()
    expect(await czxidOf()).to.equal(czxid)
  })

  itInVirtualTime('that fails undoes nothing that another call still waits for', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path)
    let second: Promise<void> | undefined
    await whileReadsHang(client, async () => {
      const first = failureOf(node.start(client, { timeout: 50 }))
      second = node.start(client)
      expect(await first).to.have.property('code', 'TIMEOUT')
    })
    await second
    await client.settled()
    expect(await czxidOf()).to.not.equal(undefined)
  })

  itInVirtualTime('can be called again after it has failed, while its node is being removed', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path)
    const removing = fixture.embedded.faults.hold('sync', { session: client.sessionId })
    await whileReadsHang(client, async () => {
      expect(await failureOf(node.start(client, { timeout: 50 }))).to.have.property('code', 'TIMEOUT')
    })
    await removing.triggered
    await node.start(client)
    const czxid = await czxidOf()
    removing.release()
    await client.settled()
    expect(await czxidOf()).to.equal(czxid)
  })

  itInVirtualTime('with another view of the same session leaves the node as it is', async () => {
    const client = await fixture.open()
    for (const made of [new PersistentEphemeral(path), new Membership(fixture.path, { id: 'node' })]) {
      await made.start(client)
      const czxid = await czxidOf()
      await made.start(client.chroot('/'))
      await client.settled()
      expect(await czxidOf()).to.equal(czxid)
      await made.close()
    }
  })

  itInVirtualTime('moves the node if the view has another root', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral('/node')
    await node.start(client.chroot(fixture.path))
    await node.start(client.chroot(`${fixture.path}/below`))
    await client.settled()
    expect(await czxidOf()).to.equal(undefined)
    expect(await czxidOf(`${fixture.path}/below/node`)).to.not.equal(undefined)
  })

  for (const opcode of [opcodes.sync, opcodes.exists, opcodes.delete])
    itInVirtualTime(`of a new object is not undone by close() of another one (at opcode ${opcode})`, async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      for (const make of [
        () => new PersistentEphemeral(path, { data: 'x' }),
        () => new Membership(fixture.path, { id: 'node', data: 'x' }),
      ]) {
        const [older, newer] = [make(), make()]
        await older.start(client)
        const held = faultyDial.holdRequest(opcode)
        const closing = older.close()
        await held
        const starting = newer.start(client)
        faultyDial.deliver()
        await Promise.all([closing, starting])
        const czxid = await czxidOf()
        expect(czxid).to.not.equal(undefined)
        await client.settled()
        await fixture.sleep(1000)
        expect(await czxidOf()).to.equal(czxid)
        await newer.close()
        expect(await czxidOf()).to.equal(undefined)
      }
    })

  for (const mode of ['ephemeral', 'persistent'] as const)
    itInVirtualTime(
      `of two objects keeps the ${mode} node until both are closed, one after the other or together`,
      async () => {
        const client = await fixture.open()
        for (const isTogether of [false, true]) {
          const [one, two] = [new PersistentEphemeral(path, { mode }), new PersistentEphemeral(path, { mode })]
          await one.start(client)
          await two.start(client)
          if (!isTogether) await one.close()
          expect(await czxidOf()).not.to.equal(undefined)
          await Promise.all([one.close(), two.close()])
          expect(await czxidOf()).to.equal(undefined)
        }
      },
    )

  itInVirtualTime(
    'in the next session lets close() resolve, although the clean-up of the last one was refused',
    async () => {
      const [last, next] = [await fixture.open({ onUncaughtError: () => undefined }), await fixture.open()]
      const node = new PersistentEphemeral(path)
      await node.start(last)
      fixture.embedded.faults.replace('exists', 'NOAUTH', { session: last.sessionId })
      await node.start(next)
      await last.settled()
      await node.close()
      expect(await czxidOf()).to.equal(undefined)
    },
  )

  itInVirtualTime('of a persistent node in the next session leaves the node as it is', async () => {
    const [one, two] = await fixture.openMany(2)
    await using node = new PersistentEphemeral(path, { mode: 'persistent' })
    await node.start(one as Client)
    const czxid = await czxidOf()
    await node.start(two as Client)
    await Promise.all([one?.settled(), two?.settled()])
    expect(await czxidOf()).to.equal(czxid)
  })

  itInVirtualTime('of a member joins with the data that was set before', async () => {
    const client = await fixture.open()
    await using group = new Membership(fixture.path, { id: 'node', data: 'old' })
    await group.setData('new')
    await group.start(client)
    expect(String((await fixture.observer.getData(path)).data)).to.equal('new')
  })

  itInVirtualTime('of Services makes register() use the new session', async () => {
    const [one, two] = await fixture.openMany(2)
    await using services = new Services(fixture.path)
    for (const client of [one, two] as Client[]) {
      await services.start(client)
      const { path: node } = await services.register({ name: 'api', id: String(client.sessionId) })
      expect((await fixture.observer.exists(node))?.ephemeralOwner).to.equal(client.sessionId)
    }
  })

  itInVirtualTime('of Services in a new session takes along an instance whose register() is under way', async () => {
    const [one, two] = await fixture.openMany(2)
    await using services = new Services(fixture.path)
    await services.start(one as Client)
    let registering: Promise<{ path: string }> | undefined
    await whileReadsHang(one as Client, async () => {
      registering = services.register({ name: 'api', id: 'a' })
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
      await services.start(two as Client)
    })
    const registration = await registering
    await Promise.all([one?.settled(), two?.settled()])
    expect((await fixture.observer.exists(registration?.path ?? ''))?.ephemeralOwner).to.equal(two?.sessionId)
  })

  itInVirtualTime('of Services leaves nothing of a register() that has failed in the session before', async () => {
    const [one, two] = await fixture.openMany(2)
    await using services = new Services(fixture.path)
    await services.start(one as Client)
    const held = fixture.embedded.faults.hold('getData', { session: one?.sessionId })
    const registering = failureOf(services.register({ name: 'api', id: 'a' }))
    await held.triggered
    await services.start(two as Client)
    await fixture.expire(one as Client)
    held.release()
    expect(await registering).to.have.property('code', 'SESSIONEXPIRED')
    await two?.settled()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    const before = two?.stats.replies ?? 0
    await using _again = await services.register({ name: 'api', id: 'a' })
    await fixture.sleep(10_000)
    expect((two?.stats.replies ?? 0) - before, 'replies').to.be.below(20)
  })

  for (const closed of ['registration', 'provider'] as const)
    itInVirtualTime(`of Services goes on without a ${closed} that is closed meanwhile`, async () => {
      const [one, two] = await fixture.openMany(2)
      await using services = new Services(fixture.path)
      await services.start(one as Client)
      const stays = await services.register({ name: 'api', id: 'stays' })
      const ends = {
        registration: await services.register({ name: 'api', id: 'ends' }),
        provider: await services.provider('api'),
      }
      let starting: Promise<void> | undefined
      let closing: Promise<void> | undefined
      await whileReadsHang(two as Client, async () => {
        starting = services.start(two as Client)
        await fixture.sleep(50)
        closing = ends[closed].close()
        await fixture.sleep(50)
      })
      await Promise.all([starting, closing])
      await Promise.all([one?.settled(), two?.settled()])
      expect((await fixture.observer.exists(stays.path))?.ephemeralOwner).to.equal(two?.sessionId)
      const left = closed === 'registration' ? [stays.path] : [ends.registration.path, stays.path]
      expect((await fixture.ephemeralNodes()).sort()).to.deep.equal(left)
      expect((await services.instances('api')).length).to.equal(left.length)
    })

  itInVirtualTime('of Services rejects with CLOSED if all of it is closed meanwhile', async () => {
    const client = await fixture.open()
    const services = new Services(fixture.path)
    await services.start(client)
    await services.register({ name: 'api', id: 'a' })
    const next = await fixture.open()
    await whileReadsHang(next, async () => {
      const starting = failureOf(services.start(next))
      await fixture.sleep(50)
      const closing = services.close()
      expect(await starting).to.have.property('code', 'CLOSED')
      void closing
    })
    await services.close()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  const writers = {
    'setData() of a PersistentEphemeral': async (client: Client) => {
      const node = new PersistentEphemeral(path, { data: 'old' })
      await node.start(client)
      return { object: node, write: () => node.setData('new'), node: path }
    },
    'setData() of a Membership': async (client: Client) => {
      const group = new Membership(fixture.path, { id: 'node', data: 'old' })
      await group.start(client)
      return { object: group, write: () => group.setData('new'), node: path }
    },
    'update() of a Registration': async (client: Client) => {
      const services = new Services(fixture.path)
      await services.start(client)
      const registration = await services.register({ name: 'api', id: 'a', address: 'old' })
      return { object: services, write: () => registration.update({ address: 'new' }), node: registration.path }
    },
  }
  for (const [name, make] of Object.entries(writers))
    itInVirtualTime(`in the next session takes along ${name} that is under way`, async () => {
      const [one, two] = (await fixture.openMany(2)) as [Client, Client]
      const { object, write, node } = await make(one)
      const held = fixture.embedded.faults.hold('setData', { session: one.sessionId })
      const writing = outcomeOf(write())
      await held.triggered
      const starting = object.start(two)
      held.release()
      await starting
      expect(await writing).to.equal(undefined)
      const { data, stat } = await fixture.observer.getData(node)
      expect(String(data)).to.match(/new/)
      expect(stat.ephemeralOwner).to.equal(two.sessionId)
      await object.close()
    })

  itInVirtualTime('in the next session ends one that is under way, whose error says so', async () => {
    const [one, two] = (await fixture.openMany(2)) as [Client, Client]
    await using node = new PersistentEphemeral(path)
    let first: Promise<unknown> | undefined
    await whileReadsHang(one, async () => {
      first = failureOf(node.start(one))
      await fixture.sleep(50)
      await node.start(two)
    })
    expect(await first).to.have.property('code', 'CLOSED')
    expect(await first)
      .to.have.property('message')
      .that.matches(/start\(\) was called with the client of another session/)
  })

  itInVirtualTime('of Services that fails keeps the registrations for the next session', async () => {
    const [one, two] = await fixture.openMany(2)
    await using services = new Services(fixture.path)
    await services.start(one as Client)
    const registration = await services.register({ name: 'api', id: 'a' })
    await whileReadsHang(two as Client, async () => {
      expect(await failureOf(services.start(two as Client, { timeout: 50 }))).to.have.property('code', 'TIMEOUT')
    })
    await two?.settled()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    await services.start(two as Client)
    expect(await fixture.ephemeralNodes()).to.deep.equal([registration.path])
  })

  itInVirtualTime('is followed by a close() that leaves a node which has replaced its own', async () => {
    const { client, faultyDial } = await fixture.openWithFaults()
    const node = new PersistentEphemeral(path, { mode: 'persistent', data: 'ours' })
    await node.start(client)
    const sending = faultyDial.holdRequest(opcodes.delete)
    const closing = node.close()
    await sending
    await fixture.observer.delete(path)
    await fixture.observer.create(path, 'theirs', { mode: 'ephemeral' })
    await fixture.observer.setData(path, 'theirs, and changed')
    faultyDial.deliver()
    await closing
    expect(String((await fixture.observer.getData(path)).data)).to.equal('theirs, and changed')
    await fixture.observer.delete(path)
  })

  itInVirtualTime('that is called again and again keeps nothing in memory', async () => {
    const client = await fixture.open()
    await using group = new Membership(fixture.path, { id: 'node' })
    await group.start(client)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heap = async () => {
      await client.settled()
      collect()
      return process.memoryUsage().heapUsed
    }
    const startOften = async () => {
      for (let i = 0; i < 2000; i++) await group.start(client)
    }
    await startOften()
    const before = await heap()
    await startOften()
    expect(((await heap()) - before) / 2000, 'bytes a call').to.be.below(100)
  })

  itInVirtualTime('is pending while a node of another session is waited for, and rejects at close()', async () => {
    const [older, client] = await fixture.openMany(2)
    await older?.create(path, '', { mode: 'ephemeral' })
    const node = new PersistentEphemeral(path, { takeOver: false })
    const starting = node.start(client as Client)
    const isSettled = trackSettled(starting)
    const outcome = outcomeOf(starting)
    await fixture.waitForWatches(1)
    expect(isSettled()).to.equal(false)
    await node.close()
    expect(await outcome).to.have.property('code', 'CLOSED')
    await older?.delete(path)
  })
})
