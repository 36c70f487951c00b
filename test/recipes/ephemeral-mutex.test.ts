// What is EphemeralMutex's own: one node that everybody wants, on a real server.
import { expect } from 'chai'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { opcodes, RequestHeader } from '../../src/protocol/index.ts'
import { EphemeralMutex } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { failureOf } from '../support/outcome.ts'
import { hastyClock } from '../support/hasty-clock.ts'
import { Saboteur } from '../support/saboteur.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'

describe('EphemeralMutex', () => {
  const sessions = new Sessions()
  let server: ApacheZooKeeper
  let observer: Client
  let directory: string
  let path: string
  let watchesBefore: number
  let run = 0

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    observer = await connect(server.connectString)
    watchesBefore = await server.watchCount()
    directory = `/ephemeral-${++run}`
    path = `${directory}/lock`
    await observer.ensurePath(directory)
  })
  afterEach(async () => {
    await sessions.settled()
    await observer.settled()
    const left = await observer.exists(path)
    const watches = await server.watchCount()
    await sessions.close()
    await observer.deleteRecursive(directory)
    await observer.close()
    expect(left, 'a node left behind').to.equal(null)
    expect(watches, 'watches left behind').to.equal(watchesBefore)
  })

  const open = (options = {}): Promise<Client> => sessions.open(server.connectString, options)
  const ownerOf = async () => (await observer.exists(path))?.ephemeralOwner

  /** A session that is cut off as soon as the fault has happened, until it is let in again. */
  async function cutOff(fault: 'loseRequest' | 'loseReply', opcode: number) {
    const saboteur = new Saboteur()
    const client = await open({ dial: saboteur.dial, clock: hastyClock })
    const lose = () => saboteur[fault](opcode).then(() => saboteur.refuse())
    return { saboteur, client, lose }
  }

  it('is the node of its path, which begins with the attempt’s uuid and shows the data behind it', async () => {
    const client = await open()
    const held = await new EphemeralMutex(client, path, { data: 'me' }).acquire()
    expect(held.path).to.equal(path)
    const { data, stat } = await observer.getData(path)
    expect(data?.toString()).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\nme$/)
    expect([stat.ephemeralOwner, stat.czxid]).to.deep.equal([client.sessionId, held.token])
    const [holder, ...others] = await new EphemeralMutex(observer, path).contenders()
    expect(holder).to.deep.equal({ path, sequence: 0, data: Buffer.from('me'), session: client.sessionId })
    expect(others).to.deep.equal([])
    await held.release()
  })

  it('wakes everybody on a release: each tries to create the node, and one does', async () => {
    const creates: number[] = []
    const count = 20
    const clients = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        open({
          observe: ({ from, first, bytes }: ObservedFrame) => {
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
    const allWait = () => until(async () => (await server.watchCount()) === watchesBefore + count - granted)
    await allWait()
    expect(creates).to.have.length(count)
    creates.length = 0
    await held.release()
    await until(() => granted === 1 && creates.length === count)
    await allWait()
    expect([granted, creates.length]).to.deep.equal([1, count])
    await Promise.all(acquiring.map(async own => (await own).release()))
    expect(granted).to.equal(count)
  })

  it('takes no second attempt of one session for the first, whose answer was lost', async () => {
    const { saboteur, client, lose } = await cutOff('loseReply', opcodes.create2)
    const held = await new EphemeralMutex(client, path).acquire()
    const lost = lose()
    let isIn = false
    const acquiring = new EphemeralMutex(client, path).acquire().finally(() => (isIn = true))
    await lost
    saboteur.accept()
    await until(async () => (await server.watchCount()) > watchesBefore)
    expect(isIn).to.equal(false)
    await held.release()
    const next = await acquiring
    expect(next.token > held.token).to.equal(true)
    await next.release()
  })

  for (const fault of ['loseRequest', 'loseReply'] as const) {
    it(`goes to another while a create is cut off, who keeps it (${fault})`, async () => {
      const { saboteur, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const acquiring = new EphemeralMutex(client, path).acquire()
      await lost
      // Where the create was done, an outsider makes room.
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      saboteur.accept()
      await until(async () => (await server.watchCount()) > watchesBefore)
      expect(await ownerOf()).to.equal(observer.sessionId)
      await held.release()
      await (await acquiring).release()
    })

    it(`goes to another while a create is cut off and given up, who keeps it (${fault})`, async () => {
      const { saboteur, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const abort = new AbortController()
      const failing = failureOf(new EphemeralMutex(client, path).acquire({ signal: abort.signal }))
      await lost
      abort.abort(new Error('enough'))
      await failing
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      saboteur.accept()
      await client.settled()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

    it(`is had or not, for sure, when one who only tries is cut off (${fault})`, async () => {
      for (const opcode of [opcodes.exists, opcodes.create2]) {
        const { saboteur, client, lose } = await cutOff(fault, opcode)
        const lost = lose()
        const trying = new EphemeralMutex(client, path).tryAcquire()
        await lost
        saboteur.accept()
        const held = await trying
        expect(held?.token).to.equal((await observer.exists(path))?.czxid)
        expect(await ownerOf()).to.equal(client.sessionId)
        await held?.release()
      }
    })

    it(`is another’s when one who only tries is cut off, who keeps it (${fault})`, async () => {
      const { saboteur, client, lose } = await cutOff(fault, opcodes.create2)
      const lost = lose()
      const trying = new EphemeralMutex(client, path).tryAcquire()
      await lost
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      saboteur.accept()
      expect(await trying).to.equal(null)
      await client.settled()
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })

    it(`goes to another while a release is cut off, who keeps it (${fault})`, async () => {
      const { saboteur, client, lose } = await cutOff(fault, opcodes.delete)
      const old = await new EphemeralMutex(client, path).acquire()
      const lost = lose()
      const releasing = old.release()
      await lost
      if ((await ownerOf()) !== undefined) await observer.delete(path)
      const held = await new EphemeralMutex(observer, path).acquire()
      saboteur.accept()
      await releasing
      expect((await observer.exists(path))?.czxid).to.equal(held.token)
      await held.release()
    })
  }

  it('is left alone by a holder whose node an outsider has deleted', async () => {
    const old = await new EphemeralMutex(await open(), path).acquire()
    await observer.delete(path)
    const held = await new EphemeralMutex(observer, path).acquire()
    await old.release()
    expect((await observer.exists(path))?.czxid).to.equal(held.token)
    await held.release()
  })

  it('waits for a node that is no lock of anybody to go', async () => {
    await observer.create(path, 'something else')
    const client = await open()
    expect(await new EphemeralMutex(client, path).tryAcquire()).to.equal(null)
    const acquiring = new EphemeralMutex(client, path).acquire()
    await until(async () => (await server.watchCount()) > watchesBefore)
    await observer.setData(path, 'changed')
    await observer.delete(path)
    await (await acquiring).release()
  })
})
