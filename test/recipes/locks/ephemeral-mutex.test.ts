// Behaviour of EphemeralMutex only: all contenders try to create the same node.
import { expect } from 'chai'
import { ZooKeeperError, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { EphemeralMutex } from '../../../src/recipes/index.ts'
import { onRequest } from '../../support/sent-opcodes.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('EphemeralMutex', (fixture, { itInVirtualTime, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    observer = fixture.observer
    path = `${fixture.path}/lock`
  })

  const ownerOf = async () => (await observer.exists(path))?.ephemeralOwner

  /** Opens a session that is disconnected from the fault on, until `faultyDial.accept()`. */
  async function openDisconnectable(fault: 'dropRequest' | 'dropReply', opcode: number) {
    const { faultyDial, client } = await fixture.openWithFaults()
    const disconnect = () => faultyDial[fault](opcode).then(() => faultyDial.refuse())
    return { faultyDial, client, disconnect }
  }

  itEverywhere(
    'is the node at its path, whose data is the UUID of the attempt followed by the contender’s id',
    async () => {
      const client = await fixture.open()
      const held = await new EphemeralMutex(client, path, { id: 'me' }).acquire()
      expect(held.path).to.equal(path)
      const { data, stat } = await observer.getData(path)
      expect(data?.toString()).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\nme$/)
      expect([stat.ephemeralOwner, stat.czxid]).to.deep.equal([client.sessionId, held.token])
      const [holder, ...others] = await new EphemeralMutex(observer, path).contenders()
      expect(holder).to.deep.include({ path, sequence: 0, id: 'me', session: client.sessionId })
      expect(others).to.deep.equal([])
      await held.release()
    },
  )

  itInVirtualTime(
    'throws BADARGUMENTS for the path /, which always exists, but allows the root of a chroot view',
    async () => {
      const client = await fixture.open()
      expect(() => new EphemeralMutex(client, '/'))
        .to.throw(ZooKeeperError)
        .with.property('code', 'BADARGUMENTS')
      const held = await new EphemeralMutex(client.chroot(path), '/').acquire()
      expect(await ownerOf()).to.equal(client.sessionId)
      await held.release()
    },
  )

  itEverywhere('notifies all waiters of a release: each tries to create the node, and one succeeds', async () => {
    const creates: number[] = []
    const count = 20
    const clients = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        fixture.open({
          onFrame: onRequest(opcodes.create2, () => creates.push(i)),
        }),
      ),
    )
    const held = await new EphemeralMutex(observer, path).acquire()
    let granted = 0
    const acquiring = clients.map(async client => {
      const own = await new EphemeralMutex(client, path).acquire()
      granted++
      return own
    })
    const allWait = () =>
      fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore + count - granted)
    await allWait()
    expect(creates).to.have.length(count)
    creates.length = 0
    await held.release()
    await fixture.until(() => granted === 1 && creates.length === count)
    await allWait()
    expect([granted, creates.length]).to.deep.equal([1, count])
    await Promise.all(acquiring.map(async own => (await own).release()))
    expect(granted).to.equal(count)
  })

  itEverywhere(
    'does not adopt the node of another attempt of the same session when the reply to create was lost',
    async () => {
      const { faultyDial, client, disconnect } = await openDisconnectable('dropReply', opcodes.create2)
      const held = await new EphemeralMutex(client, path).acquire()
      const disconnected = disconnect()
      let isGranted = false
      const acquiring = new EphemeralMutex(client, path).acquire().finally(() => (isGranted = true))
      await disconnected
      faultyDial.accept()
      await fixture.waitForWatches(1)
      expect(isGranted).to.equal(false)
      await held.release()
      const next = await acquiring
      expect(next.token > held.token).to.equal(true)
      await next.release()
    },
  )

  for (const fault of ['dropRequest', 'dropReply'] as const) {
    itEverywhere(
      `is acquired and kept by another session while a client is disconnected during create (${fault})`,
      async () => {
        const { faultyDial, client, disconnect } = await openDisconnectable(fault, opcodes.create2)
        const disconnected = disconnect()
        const acquiring = new EphemeralMutex(client, path).acquire()
        await disconnected
        // If the create was executed, another session deletes the node.
        if ((await ownerOf()) !== undefined) await observer.delete(path)
        const held = await new EphemeralMutex(observer, path).acquire()
        faultyDial.accept()
        await fixture.waitForWatches(1)
        expect(await ownerOf()).to.equal(observer.sessionId)
        await held.release()
        await (await acquiring).release()
      },
    )

    itInVirtualTime(
      `is acquired and kept by another session after a cancelled acquire() lost its connection (${fault})`,
      async () => {
        const { faultyDial, client, disconnect } = await openDisconnectable(fault, opcodes.create2)
        const disconnected = disconnect()
        const abort = new AbortController()
        const failing = failureOf(new EphemeralMutex(client, path).acquire({ signal: abort.signal }))
        await disconnected
        abort.abort(new Error('cancelled'))
        await failing
        if ((await ownerOf()) !== undefined) await observer.delete(path)
        const held = await new EphemeralMutex(observer, path).acquire()
        faultyDial.accept()
        await client.settled()
        expect((await observer.exists(path))?.czxid).to.equal(held.token)
        await held.release()
      },
    )

    itInVirtualTime(`is acquired by a tryAcquire() that loses its connection (${fault})`, async () => {
      for (const opcode of [opcodes.exists, opcodes.create2]) {
        const { faultyDial, client, disconnect } = await openDisconnectable(fault, opcode)
        const disconnected = disconnect()
        const trying = new EphemeralMutex(client, path).tryAcquire()
        await disconnected
        faultyDial.accept()
        const held = await trying
        expect(held?.token).to.equal((await observer.exists(path))?.czxid)
        expect(await ownerOf()).to.equal(client.sessionId)
        await held?.release()
      }
    })

    itInVirtualTime(
      `is kept by another session that acquires it while a tryAcquire() is disconnected (${fault})`,
      async () => {
        const { faultyDial, client, disconnect } = await openDisconnectable(fault, opcodes.create2)
        const disconnected = disconnect()
        const trying = new EphemeralMutex(client, path).tryAcquire()
        await disconnected
        if ((await ownerOf()) !== undefined) await observer.delete(path)
        const held = await new EphemeralMutex(observer, path).acquire()
        faultyDial.accept()
        expect(await trying).to.equal(null)
        await client.settled()
        expect((await observer.exists(path))?.czxid).to.equal(held.token)
        await held.release()
      },
    )

    itEverywhere(`is acquired and kept by another session while a release is disconnected (${fault})`, async () => {
      const { faultyDial, client, disconnect } = await openDisconnectable(fault, opcodes.delete)
      const old = await new EphemeralMutex(client, path).acquire()
      const disconnected = disconnect()
      const releasing = old.release()
      await disconnected
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      faultyDial.accept()
      await releasing
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })
  }

  for (const whose of ['another session', 'the same session'])
    itInVirtualTime(`acquired by ${whose} is not released by an old holder whose node was deleted`, async () => {
      const client = await fixture.open()
      const old = await new EphemeralMutex(client, path).acquire()
      await observer.delete(path)
      const held = await new EphemeralMutex(whose === 'the same session' ? client : observer, path).acquire()
      await old.release()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

  itInVirtualTime('waits until a node that is not a lock is deleted', async () => {
    await observer.create(path, 'something else')
    const client = await fixture.open()
    expect(await new EphemeralMutex(client, path).tryAcquire()).to.equal(null)
    const acquiring = new EphemeralMutex(client, path).acquire()
    await fixture.waitForWatches(1)
    await observer.setData(path, 'changed')
    await observer.delete(path)
    await (await acquiring).release()
  })
})
