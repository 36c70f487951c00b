// What is EphemeralMutex's own: one node that everybody wants.
import { expect } from 'chai'
import { ZooKeeperError, type Client, type ObservedFrame } from '../../../src/index.ts'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { EphemeralMutex } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('EphemeralMutex', (fixture, { it, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    observer = fixture.observer
    path = `${fixture.path}/lock`
  })

  const ownerOf = async () => (await observer.exists(path))?.ephemeralOwner

  /** A session that is cut off as soon as the fault has happened, until it is let in again. */
  async function cutOff(fault: 'loseRequest' | 'loseReply', opcode: number) {
    const { faultyDial, client } = await fixture.openWithFaults()
    const lose = () => faultyDial[fault](opcode).then(() => faultyDial.refuse())
    return { faultyDial, client, lose }
  }

  itEverywhere(
    'is the node of its path, which begins with the attempt’s uuid and shows the data behind it',
    async () => {
      const client = await fixture.open()
      const held = await new EphemeralMutex(client, path, { data: 'me' }).acquire()
      expect(held.path).to.equal(path)
      const { data, stat } = await observer.getData(path)
      expect(data?.toString()).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\nme$/)
      expect([stat.ephemeralOwner, stat.czxid]).to.deep.equal([client.sessionId, held.token])
      const [holder, ...others] = await new EphemeralMutex(observer, path).contenders()
      expect(holder).to.deep.equal({ path, sequence: 0, data: Buffer.from('me'), session: client.sessionId })
      expect(others).to.deep.equal([])
      await held.release()
    },
  )

  it('cannot be the root, for which one would wait for ever; but the root of a view it can', async () => {
    const client = await fixture.open()
    expect(() => new EphemeralMutex(client, '/'))
      .to.throw(ZooKeeperError)
      .with.property('code', 'BADARGUMENTS')
    const held = await new EphemeralMutex(client.chroot(path), '/').acquire()
    expect(await ownerOf()).to.equal(client.sessionId)
    await held.release()
  })

  it('cannot be the root of a view where there is nothing in which to make it', async () => {
    const client = await fixture.open()
    const error = await failureOf(new EphemeralMutex(client.chroot(`${path}/view`), '/').acquire())
    expect(error).to.have.property('code', 'BADARGUMENTS')
    expect(await observer.exists(path)).to.equal(null)
  })

  itEverywhere('wakes everybody on a release: each tries to create the node, and one does', async () => {
    const creates: number[] = []
    const count = 20
    const clients = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        fixture.open({
          onFrame: ({ from, first, bytes }: ObservedFrame) => {
            if (from === 'client' && !first && RequestHeader.decode(bytes).type === opcodes.create2) creates.push(i)
          },
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

  itEverywhere('takes no second attempt of one session for the first, whose answer was lost', async () => {
    const { faultyDial, client, lose } = await cutOff('loseReply', opcodes.create2)
    const held = await new EphemeralMutex(client, path).acquire()
    const lost = lose()
    let isIn = false
    const acquiring = new EphemeralMutex(client, path).acquire().finally(() => (isIn = true))
    await lost
    faultyDial.accept()
    await fixture.waitForWatches(1)
    expect(isIn).to.equal(false)
    await held.release()
    const next = await acquiring
    expect(next.token > held.token).to.equal(true)
    await next.release()
  })

  for (const fault of ['loseRequest', 'loseReply'] as const) {
    itEverywhere(`goes to another while a create is cut off, who keeps it (${fault})`, async () => {
      const { faultyDial, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const acquiring = new EphemeralMutex(client, path).acquire()
      await lost
      // Where the create was done, an outsider makes room.
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      faultyDial.accept()
      await fixture.waitForWatches(1)
      expect(await ownerOf()).to.equal(observer.sessionId)
      await held.release()
      await (await acquiring).release()
    })

    it(`goes to another while a create is cut off and given up, who keeps it (${fault})`, async () => {
      const { faultyDial, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const abort = new AbortController()
      const failing = failureOf(new EphemeralMutex(client, path).acquire({ signal: abort.signal }))
      await lost
      abort.abort(new Error('enough'))
      await failing
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      faultyDial.accept()
      await client.settled()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

    it(`is had or not, for sure, when one who only tries is cut off (${fault})`, async () => {
      for (const opcode of [opcodes.exists, opcodes.create2]) {
        const { faultyDial, client, lose } = await cutOff(fault, opcode)
        const lost = lose()
        const trying = new EphemeralMutex(client, path).tryAcquire()
        await lost
        faultyDial.accept()
        const held = await trying
        expect(held?.token).to.equal((await observer.exists(path))?.czxid)
        expect(await ownerOf()).to.equal(client.sessionId)
        await held?.release()
      }
    })

    it(`is another’s when one who only tries is cut off, who keeps it (${fault})`, async () => {
      const { faultyDial, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const trying = new EphemeralMutex(client, path).tryAcquire()
      await lost
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      faultyDial.accept()
      expect(await trying).to.equal(null)
      await client.settled()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

    itEverywhere(`goes to another while a release is cut off, who keeps it (${fault})`, async () => {
      const { faultyDial, client, lose } = await cutOff(fault, opcodes.delete)
      const old = await new EphemeralMutex(client, path).acquire()
      const lost = lose()
      const releasing = old.release()
      await lost
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      faultyDial.accept()
      await releasing
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })
  }

  for (const whose of ['another session', 'the same session'])
    it(`of ${whose} is left alone by a holder whose node an outsider has deleted`, async () => {
      const client = await fixture.open()
      const old = await new EphemeralMutex(client, path).acquire()
      await observer.delete(path)
      const held = await new EphemeralMutex(whose === 'the same session' ? client : observer, path).acquire()
      await old.release()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

  it('waits for a node that is no lock of anybody to go', async () => {
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
