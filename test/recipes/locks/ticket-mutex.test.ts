// What is TicketMutex's own: tickets without a name of their own, in directories that come and go.
import { expect } from 'chai'
import { aclOf, connect, type Client, type ConnectOptions, type ObservedFrame } from '../../../src/index.ts'
import { opcodes, perms, ReplyHeader, RequestHeader, xids } from '../../../src/protocol/index.ts'
import { Mutex, TicketMutex, type Held } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'
import { until } from '../../support/until.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('TicketMutex', (fixture, { it, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    observer = fixture.observer
    path = `${fixture.path}/lock`
  })

  const numbers = async () => (await new TicketMutex(observer, path).contenders()).map(({ sequence }) => sequence)

  /** Sessions that queue one after the other; each is noted when it is let in. */
  async function queue(count: number, options: ConnectOptions = {}) {
    const order: number[] = []
    const all: { client: Client; abort: AbortController; granted: Promise<Held> }[] = []
    for (const [i, client] of (await fixture.openMany(count, options)).entries()) {
      const abort = new AbortController()
      const granted = new TicketMutex(client, path).acquire({ signal: abort.signal })
      all.push({ client, abort, granted })
      granted.then(
        () => order.push(i),
        () => undefined,
      )
      if (i === 0) await granted
      else await fixture.waitForWatches(i)
    }
    const at = (i: number) => all[i] ?? expect.fail(`there is no contender ${i}`)
    const release = async (...those: number[]) => {
      for (const i of those) await (await at(i).granted).release()
    }
    return { order, at, release }
  }

  itEverywhere('grants the queue in its order, each behind a release without a list', async () => {
    let lists = 0
    const onFrame = ({ from, first, bytes }: ObservedFrame) => {
      if (from === 'client' && !first && RequestHeader.decode(bytes).type === opcodes.getChildren2) lists++
    }
    await observer.ensurePath(path)
    const { order, release } = await queue(5, { onFrame })
    await release(0, 1, 2, 3, 4)
    expect(order).to.deep.equal([0, 1, 2, 3, 4])
    expect(lists).to.equal(0)
    expect((await observer.getData(path)).data?.toString()).to.equal('0000000004')
  })

  it('keeps several contenders of one session apart, in their order', async () => {
    const client = await fixture.open()
    const order: number[] = []
    const pass = (i: number) => new TicketMutex(client, path).use(() => order.push(i))
    await Promise.all(Array.from({ length: 20 }, (_, i) => pass(i)))
    expect(order).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  itEverywhere('makes a directory that stays when it is empty, or its numbers would begin anew', async () => {
    const client = await fixture.open()
    await (await new TicketMutex(client, path).acquire()).release()
    expect((await observer.exists(path))?.ephemeralOwner).to.equal(0n)
  })

  it('goes past those who give up, at the end of the queue and in its middle', async () => {
    const { at, order, release } = await queue(5)
    for (const { abort, granted } of [at(2), at(4)]) {
      const failing = failureOf(granted)
      abort.abort(new Error('enough'))
      await failing
    }
    await fixture.until(async () => (await numbers()).length === 3)
    await release(0, 1, 3)
    expect(order).to.deep.equal([0, 1, 3])
  })

  itEverywhere('goes past those who die, the holder and one who waits', async () => {
    const { at, order, release } = await queue(4)
    for (const { client } of [at(2), at(0)]) await fixture.expire(client)
    expect(await failureOf(at(2).granted)).to.have.property('code', 'SESSIONEXPIRED')
    await release(1, 3)
    expect(order).to.deep.equal([0, 1, 3])
  })

  it('goes past a ticket that an outsider deletes; its owner draws another', async () => {
    const { order, release } = await queue(4)
    await observer.delete(`${path}/t-0000000001`)
    await release(0, 2, 3, 1)
    expect(order).to.deep.equal([0, 2, 3, 1])
  })

  describe('in a directory that was deleted and made again', () => {
    for (const whose of ['another session', 'the same session'])
      it(`has an old holder’s release leave the ticket of a namesake of ${whose} alone`, async () => {
        const client = await fixture.open()
        const old = await new TicketMutex(client, path).acquire()
        await observer.deleteRecursive(path)
        const namesake = whose === 'the same session' ? client : await fixture.open()
        const held = await new TicketMutex(namesake, path).acquire()
        expect(held.path).to.equal(old.path)
        await old.release()
        expect((await observer.exists(held.path))?.czxid).to.equal(held.token)
        await held.release()
      })

    for (const fault of ['loseRequest', 'loseReply'] as const)
      itEverywhere(`has a release leave the namesake’s ticket alone when it is repeated (${fault})`, async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const old = await new TicketMutex(client, path).acquire()
        const happened = faultyDial[fault](opcodes.multi).then(() => faultyDial.refuse())
        const releasing = old.release()
        await happened
        await observer.deleteRecursive(path)
        const held = await new TicketMutex(await fixture.open(), path).acquire()
        expect(held.path).to.equal(old.path)
        faultyDial.accept()
        await releasing
        expect((await observer.exists(held.path))?.czxid).to.equal(held.token)
        await held.release()
      })

    /** One waits behind a holder, and loses its connection; meanwhile two namesakes stand in a new directory. */
    async function overtaken() {
      const [first, { faultyDial, client }] = [await fixture.open(), await fixture.openWithFaults()]
      const old = await new TicketMutex(first, path).acquire()
      const abort = new AbortController()
      const acquiring = new TicketMutex(client, path).acquire({ signal: abort.signal })
      acquiring.catch(() => undefined)
      await fixture.waitForWatches(1)
      faultyDial.refuse()
      await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
      await observer.deleteRecursive(path)
      const namesakes = await queue(2)
      expect(await numbers()).to.deep.equal([0, 1])
      return { faultyDial, client, old, abort, acquiring, namesakes }
    }

    itEverywhere('has one who waited draw again, and does not take the namesake’s turn for its own', async () => {
      const { faultyDial, client, old, acquiring, namesakes } = await overtaken()
      faultyDial.accept()
      await fixture.until(async () => (await numbers()).length === 3)
      let isIn = false
      void acquiring.then(() => (isIn = true))
      await namesakes.release(0)
      const second = await namesakes.at(1).granted
      await client.sync(path)
      expect(isIn).to.equal(false)
      await second.release()
      await (await acquiring).release()
      await old.release()
    })

    it('has one who gives up leave the namesake’s ticket alone', async () => {
      const { faultyDial, client, old, abort, acquiring, namesakes } = await overtaken()
      abort.abort(new Error('enough'))
      await failureOf(acquiring)
      faultyDial.accept()
      await Promise.all([client.settled(), old.release()])
      expect(await numbers()).to.deep.equal([0, 1])
      await namesakes.release(0, 1)
    })

    it('does not believe what stood there when it drew: the directory read behind the draw is another', async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      const old = await new TicketMutex(await fixture.open(), path).acquire()
      // The ticket is 1, and the directory is read on the next connection: there 0 was given back, and 1 is held.
      const lost = faultyDial.loseReply(opcodes.getData).then(() => faultyDial.refuse())
      const acquiring = new TicketMutex(client, path).acquire()
      await lost
      await observer.deleteRecursive(path)
      await (await new TicketMutex(observer, path).acquire()).release()
      const held = await new TicketMutex(observer, path).acquire()
      expect(held.path).to.equal(`${path}/t-0000000001`)
      let isIn = false
      void acquiring.then(() => (isIn = true))
      faultyDial.accept()
      await fixture.until(async () => isIn || (await numbers()).includes(2))
      expect(isIn).to.equal(false)
      await held.release()
      await (await acquiring).release()
      await Promise.all([old.release(), observer.settled()])
    })
  })

  itEverywhere('goes on where contenders may not write the directory, by lists', async () => {
    await observer.create(path, 'hands off', { acl: [aclOf('world', 'anyone', perms.all & ~perms.write)] })
    const { order, release } = await queue(4)
    await release(0, 1, 2, 3)
    expect(order).to.deep.equal([0, 1, 2, 3])
    expect((await observer.getData(path)).data?.toString()).to.equal('hands off')
  })

  for (const data of ['of others', '0000000001\n', '-000000001', null])
    it(`goes on where the directory holds ${JSON.stringify(data)}`, async () => {
      await observer.create(path, data)
      const { order, release } = await queue(3)
      expect(order).to.deep.equal([0])
      await release(0, 1, 2)
      expect(order).to.deep.equal([0, 1, 2])
    })

  it('goes on where others create nodes in its directory, whose numbers are missing in the queue', async () => {
    await observer.ensurePath(path)
    // Behind each ticket a foreign node takes the number that the next one would have.
    const onFrame = ({ from, first, bytes }: ObservedFrame) => {
      if (from === 'client' && !first && RequestHeader.decode(bytes).type === opcodes.getData) outsiders.push(foreign())
    }
    const outsiders: Promise<unknown>[] = []
    const foreign = () => observer.create(`${path}/foreign-`, '', { mode: 'persistentSequential' })
    const { order, release } = await queue(3, { onFrame })
    await Promise.all(outsiders)
    expect(await numbers()).not.to.deep.equal([0, 1, 2])
    await release(0, 1, 2)
    expect(order).to.deep.equal([0, 1, 2])
  })
})

describe('TicketMutex on the wire', () => {
  /** Bytes of requests, answers and events, without pings, while so many queue behind a holder and pass. */
  async function bytesFor(Lock: typeof TicketMutex | typeof Mutex, count: number): Promise<number> {
    await using server = await Server.start({ listen: false })
    const { dial, connectString } = server
    let bytes = 0
    const onFrame = (frame: ObservedFrame) => {
      if (frame.first) return
      const { xid } = (frame.from === 'client' ? RequestHeader : ReplyHeader).decode(frame.bytes)
      if (xid !== xids.ping) bytes += 4 + frame.bytes.length
    }
    await using observer = await connect(connectString, { dial })
    await observer.ensurePath('/lock')
    const holder = await new Lock(observer, '/lock').acquire()
    const clients = await Promise.all(Array.from({ length: 10 }, () => connect(connectString, { dial, onFrame })))
    const passing = clients.flatMap(client =>
      Array.from({ length: count / clients.length }, async () => {
        await (await new Lock(client, '/lock').acquire()).release()
      }),
    )
    await until(() => server.snapshot().watches.length >= count)
    await holder.release()
    await Promise.all(passing)
    await Promise.all(clients.map(client => client.settled()))
    const all = bytes
    await Promise.all(clients.map(client => client.close()))
    return all
  }

  it('costs the same for each however many wait, where Mutex costs each a list of all', async function () {
    const perPass = async (Lock: typeof TicketMutex | typeof Mutex, count: number) =>
      (await bytesFor(Lock, count)) / count
    const few = await perPass(TicketMutex, 50)
    expect([await perPass(TicketMutex, 200), await perPass(TicketMutex, 500)]).to.deep.equal([few, few])
    const mutex = [await perPass(Mutex, 50), await perPass(Mutex, 500)] as const
    // Each lists at least once with half of the others there, on the average: 225 names more of more than 40 bytes.
    expect(mutex[1] - mutex[0]).to.be.above(225 * 40)
    if (this.test) this.test.title += ` (${few} bytes; Mutex ${mutex.map(Math.round).join(' and ')} bytes)`
  })
})
