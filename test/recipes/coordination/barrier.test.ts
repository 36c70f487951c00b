import { expect } from 'chai'
import { openACL, readOnlyACL } from '../../../src/index.ts'
import { Barrier, DoubleBarrier } from '../../../src/recipes/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { leaving } from '../../../src/recipes/coordination/barrier.ts'
import { failureOf, watched } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('Barrier', (fixture, { it, itEverywhere }) => {
  itEverywhere('holds everybody up while it is raised', async () => {
    const clients = await fixture.openMany(5)
    const barrier = new Barrier(fixture.observer, `${fixture.path}/up`)
    await barrier.raise()
    await barrier.raise()
    const waiting = clients.map(client => new Barrier(client, `${fixture.path}/up`).wait())
    const isThrough = waiting.map(watched)
    await Promise.all(clients.map(client => client.exists('/')))
    expect(isThrough.map(through => through())).to.deep.equal([false, false, false, false, false])
    await barrier.lower()
    await barrier.lower()
    await Promise.all(waiting)
  })

  it('holds up nobody while it is down, and leaves no watch then', async () => {
    await new Barrier(await fixture.open(), `${fixture.path}/up`).wait()
  })

  it('holds up again who is woken when it has been raised anew', async () => {
    const barrier = new Barrier(fixture.observer, `${fixture.path}/up`)
    await barrier.raise()
    const waiting = new Barrier(await fixture.open(), `${fixture.path}/up`).wait()
    const isThrough = watched(waiting)
    await fixture.observer.setData(`${fixture.path}/up`, 'touched')
    await fixture.observer.exists('/')
    expect(isThrough()).to.equal(false)
    await barrier.lower()
    await waiting
  })

  it('gives its ACL to its own node, and not to what is missing above', async () => {
    const barrier = new Barrier(fixture.observer, `${fixture.path}/team/up`, { acl: readOnlyACL })
    await barrier.raise()
    expect((await fixture.observer.getACL(`${fixture.path}/team`)).acl).to.deep.equal(openACL)
    expect((await fixture.observer.getACL(`${fixture.path}/team/up`)).acl).to.deep.equal(readOnlyACL)
    await barrier.lower()
  })

  it('is waited for no longer than one wants', async () => {
    const barrier = new Barrier(await fixture.open(), `${fixture.path}/up`)
    await barrier.raise()
    expect(await failureOf(barrier.wait({ timeout: 20 }))).to.have.property('code', 'TIMEOUT')
    const reason = new Error('given up')
    expect(await failureOf(barrier.wait({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
  })

  itEverywhere('tells who waits of the end of the session', async () => {
    const client = await fixture.open()
    await new Barrier(client, `${fixture.path}/up`).raise()
    const failing = failureOf(new Barrier(client, `${fixture.path}/up`).wait())
    await client.exists('/')
    await fixture.expire(client)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
  })
})

describe('how a member leaves a double barrier', () => {
  it('is behind the highest where it is the lowest, and else at once, to wait for the lowest', () => {
    expect(leaving(['b', 'c', 'a'], 'a')).to.deep.equal({ goes: false, behind: 'c' })
    expect(leaving(['b', 'c', 'a'], 'b')).to.deep.equal({ goes: true, behind: 'a' })
    expect(leaving(['b', 'c', 'a'], undefined)).to.deep.equal({ goes: true, behind: 'a' })
    expect(leaving(['a'], 'a')).to.deep.equal({ goes: true, behind: undefined })
    for (const gone of ['a', undefined]) expect(leaving([], gone)).to.deep.equal({ goes: true, behind: undefined })
  })
})

onBothServers('DoubleBarrier', (fixture, { it, itEverywhere }) => {
  itEverywhere('lets all in together and out together, passage after passage', async () => {
    const clients = await fixture.openMany(6)
    let inside = 0
    let outside = 0
    const passages = 4
    const pass = async (client: (typeof clients)[number]) => {
      const barrier = new DoubleBarrier(client, fixture.path, clients.length)
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
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    if (await fixture.observer.exists(fixture.path))
      expect((await fixture.observer.getChildren(fixture.path)).children).to.deep.equal([])
  })

  it('does not count who has given up', async () => {
    const [a, b, c] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const first = new DoubleBarrier(a, fixture.path, 2)
    expect(await failureOf(first.enter({ timeout: 30 }))).to.have.property('code', 'TIMEOUT')
    await a.settled()
    const [barrier, other] = [new DoubleBarrier(b, fixture.path, 2), new DoubleBarrier(c, fixture.path, 2)]
    const entering = barrier.enter()
    const isInside = watched(entering)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await b.exists('/')
    expect(isInside()).to.equal(false)
    await other.enter()
    await entering
    await Promise.all([barrier.leave(), other.leave()])
  })

  itEverywhere('counts who has died no more, and waits for them no more', async () => {
    const [a, b, c] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const died = new DoubleBarrier(a, fixture.path, 2).enter()
    const failing = failureOf(died)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await fixture.expire(a)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    const [left, right] = [new DoubleBarrier(b, fixture.path, 2), new DoubleBarrier(c, fixture.path, 2)]
    await Promise.all([left.enter(), right.enter()])
    const leaving = left.leave()
    await fixture.until(async () => (await fixture.ephemeralNodes()).length <= 2)
    await fixture.expire(c)
    await leaving
  })

  it('is not open to who comes after all have died inside', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    await Promise.all([a, b].map(client => new DoubleBarrier(client, fixture.path, 2).enter()))
    for (const client of [a, b]) await fixture.expire(client)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 0)
    for (let passage = 1; passage <= 2; passage++) {
      const [c, d] = [await fixture.open(), await fixture.open()]
      const [first, second] = [new DoubleBarrier(c, fixture.path, 2), new DoubleBarrier(d, fixture.path, 2)]
      const entering = first.enter()
      const isInside = watched(entering)
      await fixture.waitForWatches(2)
      await c.exists('/')
      expect(isInside(), `one alone, in passage ${passage}`).to.equal(false)
      await Promise.all([entering, second.enter()])
      await Promise.all([first.leave(), second.leave()])
    }
  })

  it('lets one in who comes too many while the others are inside', async () => {
    const clients = await fixture.openMany(3)
    const [first, second, third] = clients.map(client => new DoubleBarrier(client, fixture.path, 2))
    await Promise.all([first?.enter(), second?.enter()])
    await third?.enter()
    await Promise.all([first?.leave(), second?.leave(), third?.leave()])
  })

  it('is closed behind the last one who is inside, also where his call to leave fails', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const barriers = [a, b].map(client => new DoubleBarrier(client, fixture.path, 2))
    await Promise.all(barriers.map(barrier => barrier.enter()))
    const reason = new Error('given up')
    for (const barrier of barriers)
      expect(await failureOf(barrier.leave({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
    await Promise.all([a.settled(), b.settled()])
    expect(await fixture.childPaths()).to.deep.equal([])
  })

  it('makes the node again that somebody deleted', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const barrier = new DoubleBarrier(a, fixture.path, 2)
    const entering = barrier.enter()
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await fixture.observer.delete((await fixture.ephemeralNodes())[0] ?? '')
    const other = new DoubleBarrier(b, fixture.path, 2)
    await other.enter()
    await entering
    expect(await fixture.ephemeralNodes()).to.have.length(2)
    await Promise.all([barrier.leave(), other.leave()])
  })

  for (const opcode of [opcodes.create2, opcodes.getChildren2, opcodes.exists] as const) {
    itEverywhere(`is entered and left, with one node, when the answer to ${nameOf(opcode)} is lost`, async () => {
      const [{ faultyDial, client: a }, b] = [await fixture.openWithFaults(), await fixture.open()]
      await a.ensurePath(fixture.path)
      const lost = faultyDial.loseReply(opcode)
      const [first, second] = [new DoubleBarrier(a, fixture.path, 2), new DoubleBarrier(b, fixture.path, 2)]
      const entering = first.enter()
      await lost
      await Promise.all([entering, second.enter()])
      expect(await fixture.ephemeralNodes()).to.have.length(2)
      await Promise.all([first.leave(), second.leave()])
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    })
  }

  it('refuses to be entered twice, to be left before, and a count and a path that are none', async () => {
    const client = await fixture.open()
    const barrier = new DoubleBarrier(client, fixture.path, 1)
    expect(await failureOf(barrier.leave())).to.have.property('code', 'BADARGUMENTS')
    await barrier.enter()
    expect(await failureOf(barrier.enter())).to.have.property('code', 'BADARGUMENTS')
    await barrier.leave()
    for (const count of [0, -1, 1.5, NaN])
      expect(() => new DoubleBarrier(client, fixture.path, count))
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
