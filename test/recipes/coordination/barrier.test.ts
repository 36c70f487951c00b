import { expect } from 'chai'
import { openACL, readOnlyACL } from '../../../src/index.ts'
import { Barrier, DoubleBarrier } from '../../../src/recipes/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { leaveStep } from '../../../src/recipes/coordination/barrier.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onGrounds } from '../fixture.ts'

onGrounds('Barrier', (ground, { it, everywhere }) => {
  everywhere('holds everybody up while it is raised', async () => {
    const clients = await ground.many(5)
    const barrier = new Barrier(ground.observer, `${ground.path}/up`)
    await barrier.raise()
    await barrier.raise()
    const waiting = clients.map(client => new Barrier(client, `${ground.path}/up`).wait())
    const isThrough = waiting.map(trackSettled)
    await Promise.all(clients.map(client => client.exists('/')))
    expect(isThrough.map(through => through())).to.deep.equal([false, false, false, false, false])
    await barrier.lower()
    await barrier.lower()
    await Promise.all(waiting)
  })

  it('holds up nobody while it is down, and leaves no watch then', async () => {
    await new Barrier(await ground.open(), `${ground.path}/up`).wait()
  })

  it('holds up again who is woken when it has been raised anew', async () => {
    const barrier = new Barrier(ground.observer, `${ground.path}/up`)
    await barrier.raise()
    const waiting = new Barrier(await ground.open(), `${ground.path}/up`).wait()
    const isThrough = trackSettled(waiting)
    await ground.observer.setData(`${ground.path}/up`, 'touched')
    await ground.observer.exists('/')
    expect(isThrough()).to.equal(false)
    await barrier.lower()
    await waiting
  })

  it('gives its ACL to its own node, and not to what is missing above', async () => {
    const barrier = new Barrier(ground.observer, `${ground.path}/team/up`, { acl: readOnlyACL })
    await barrier.raise()
    expect((await ground.observer.getACL(`${ground.path}/team`)).acl).to.deep.equal(openACL)
    expect((await ground.observer.getACL(`${ground.path}/team/up`)).acl).to.deep.equal(readOnlyACL)
    await barrier.lower()
  })

  it('is waited for no longer than one wants', async () => {
    const barrier = new Barrier(await ground.open(), `${ground.path}/up`)
    await barrier.raise()
    expect(await failureOf(barrier.wait({ timeout: 20 }))).to.have.property('code', 'TIMEOUT')
    const reason = new Error('given up')
    expect(await failureOf(barrier.wait({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
  })

  everywhere('tells who waits of the end of the session', async () => {
    const client = await ground.open()
    await new Barrier(client, `${ground.path}/up`).raise()
    const failing = failureOf(new Barrier(client, `${ground.path}/up`).wait())
    await client.exists('/')
    await ground.expire(client)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
  })
})

describe('how a member leaves a double barrier', () => {
  it('is behind the highest where it is the lowest, and else at once, to wait for the lowest', () => {
    expect(leaveStep(['b', 'c', 'a'], 'a')).to.deep.equal({ removesOwn: false, waitsFor: 'c' })
    expect(leaveStep(['b', 'c', 'a'], 'b')).to.deep.equal({ removesOwn: true, waitsFor: 'a' })
    expect(leaveStep(['b', 'c', 'a'], undefined)).to.deep.equal({ removesOwn: true, waitsFor: 'a' })
    expect(leaveStep(['a'], 'a')).to.deep.equal({ removesOwn: true, waitsFor: undefined })
    for (const gone of ['a', undefined])
      expect(leaveStep([], gone)).to.deep.equal({ removesOwn: true, waitsFor: undefined })
  })
})

onGrounds('DoubleBarrier', (ground, { it, everywhere }) => {
  everywhere('lets all in together and out together, passage after passage', async () => {
    const clients = await ground.many(6)
    let inside = 0
    let outside = 0
    const passages = 4
    const pass = async (client: (typeof clients)[number]) => {
      const barrier = new DoubleBarrier(client, ground.path, clients.length)
      for (let n = 1; n <= passages; n++) {
        inside++
        await barrier.enter()
        expect(inside, 'have come').to.equal(n * clients.length)
        outside++
        await barrier.leave()
        expect(outside, 'have left').to.be.at.least(n * clients.length)
      }
    }
    await Promise.all(clients.map(pass))
    expect(await ground.nodes()).to.deep.equal([])
    if (await ground.observer.exists(ground.path))
      expect((await ground.observer.getChildren(ground.path)).children).to.deep.equal([])
  })

  it('does not count who has given up', async () => {
    const [a, b, c] = [await ground.open(), await ground.open(), await ground.open()]
    const first = new DoubleBarrier(a, ground.path, 2)
    expect(await failureOf(first.enter({ timeout: 30 }))).to.have.property('code', 'TIMEOUT')
    await a.settled()
    const [barrier, other] = [new DoubleBarrier(b, ground.path, 2), new DoubleBarrier(c, ground.path, 2)]
    const entering = barrier.enter()
    const isInside = trackSettled(entering)
    await ground.until(async () => (await ground.nodes()).length === 1)
    await b.exists('/')
    expect(isInside()).to.equal(false)
    await other.enter()
    await entering
    await Promise.all([barrier.leave(), other.leave()])
  })

  everywhere('counts who has died no more, and waits for them no more', async () => {
    const [a, b, c] = [await ground.open(), await ground.open(), await ground.open()]
    const died = new DoubleBarrier(a, ground.path, 2).enter()
    const failing = failureOf(died)
    await ground.until(async () => (await ground.nodes()).length === 1)
    await ground.expire(a)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    const [left, right] = [new DoubleBarrier(b, ground.path, 2), new DoubleBarrier(c, ground.path, 2)]
    await Promise.all([left.enter(), right.enter()])
    const leaving = left.leave()
    await ground.until(async () => (await ground.nodes()).length <= 2)
    await ground.expire(c)
    await leaving
  })

  it('is not open to who comes after all have died inside', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    await Promise.all([a, b].map(client => new DoubleBarrier(client, ground.path, 2).enter()))
    for (const client of [a, b]) await ground.expire(client)
    await ground.until(async () => (await ground.nodes()).length === 0)
    for (let passage = 1; passage <= 2; passage++) {
      const [c, d] = [await ground.open(), await ground.open()]
      const [first, second] = [new DoubleBarrier(c, ground.path, 2), new DoubleBarrier(d, ground.path, 2)]
      const entering = first.enter()
      const isInside = trackSettled(entering)
      await ground.watches(2)
      await c.exists('/')
      expect(isInside(), `one alone, in passage ${passage}`).to.equal(false)
      await Promise.all([entering, second.enter()])
      await Promise.all([first.leave(), second.leave()])
    }
  })

  it('lets one in who comes too many while the others are inside', async () => {
    const clients = await ground.many(3)
    const [first, second, third] = clients.map(client => new DoubleBarrier(client, ground.path, 2))
    await Promise.all([first?.enter(), second?.enter()])
    await third?.enter()
    await Promise.all([first?.leave(), second?.leave(), third?.leave()])
  })

  it('is closed behind the last one who is inside, also where his call to leave fails', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    const barriers = [a, b].map(client => new DoubleBarrier(client, ground.path, 2))
    await Promise.all(barriers.map(barrier => barrier.enter()))
    const reason = new Error('given up')
    for (const barrier of barriers)
      expect(await failureOf(barrier.leave({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
    await Promise.all([a.settled(), b.settled()])
    expect(await ground.nodesIn()).to.deep.equal([])
  })

  it('makes the node again that somebody deleted', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    const barrier = new DoubleBarrier(a, ground.path, 2)
    const entering = barrier.enter()
    await ground.until(async () => (await ground.nodes()).length === 1)
    await ground.observer.delete((await ground.nodes())[0] ?? '')
    const other = new DoubleBarrier(b, ground.path, 2)
    await other.enter()
    await entering
    expect(await ground.nodes()).to.have.length(2)
    await Promise.all([barrier.leave(), other.leave()])
  })

  for (const opcode of [opcodes.create2, opcodes.getChildren2, opcodes.exists] as const) {
    everywhere(`is entered and left, with one node, when the answer to ${nameOf(opcode)} is lost`, async () => {
      const [{ faultyDial, client: a }, b] = [await ground.sabotaged(), await ground.open()]
      await a.ensurePath(ground.path)
      const lost = faultyDial.dropReply(opcode)
      const [first, second] = [new DoubleBarrier(a, ground.path, 2), new DoubleBarrier(b, ground.path, 2)]
      const entering = first.enter()
      await lost
      await Promise.all([entering, second.enter()])
      expect(await ground.nodes()).to.have.length(2)
      await Promise.all([first.leave(), second.leave()])
      expect(await ground.nodes()).to.deep.equal([])
    })
  }

  it('refuses to be entered twice, to be left before, and a count and a path that are none', async () => {
    const client = await ground.open()
    const barrier = new DoubleBarrier(client, ground.path, 1)
    expect(await failureOf(barrier.leave())).to.have.property('code', 'BADARGUMENTS')
    await barrier.enter()
    expect(await failureOf(barrier.enter())).to.have.property('code', 'BADARGUMENTS')
    await barrier.leave()
    for (const count of [0, -1, 1.5, NaN])
      expect(() => new DoubleBarrier(client, ground.path, count))
        .to.throw()
        .with.property('code', 'BADARGUMENTS')
    // Below it members would stand at the root.
    expect(() => new DoubleBarrier(client, '', 1))
      .to.throw()
      .with.property('code', 'BADARGUMENTS')
  })
})

function nameOf(opcode: number): string {
  return Object.entries(opcodes).find(([, number]) => number === opcode)?.[0] ?? String(opcode)
}
