import { expect } from 'chai'
import { Barrier, DoubleBarrier } from '../../src/recipes/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { failureOf, watched } from '../support/outcome.ts'
import { Saboteur } from '../support/saboteur.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Site } from './site.ts'

describe('Barrier', () => {
  const site = new Site('barrier')

  it('holds everybody up while it is raised', async () => {
    const clients = await site.many(5)
    const barrier = new Barrier(site.observer, site.path)
    await barrier.raise()
    await barrier.raise()
    const waiting = clients.map(client => new Barrier(client, site.path).wait())
    const isThrough = waiting.map(watched)
    await Promise.all(clients.map(client => client.exists('/')))
    expect(isThrough.map(through => through())).to.deep.equal([false, false, false, false, false])
    await barrier.lower()
    await barrier.lower()
    await Promise.all(waiting)
  })

  it('holds up nobody while it is down, and leaves no watch then', async () => {
    await new Barrier(await site.open(), site.path).wait()
  })

  it('holds up again who is woken when it has been raised anew', async () => {
    const barrier = new Barrier(site.observer, site.path)
    await barrier.raise()
    const waiting = new Barrier(await site.open(), site.path).wait()
    const isThrough = watched(waiting)
    await site.observer.setData(site.path, 'touched')
    await site.observer.exists('/')
    expect(isThrough()).to.equal(false)
    await barrier.lower()
    await waiting
  })

  it('is waited for no longer than one wants', async () => {
    const barrier = new Barrier(await site.open(), site.path)
    await barrier.raise()
    expect(await failureOf(barrier.wait({ timeout: 20 }))).to.have.property('code', 'TIMEOUT')
    const reason = new Error('given up')
    expect(await failureOf(barrier.wait({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
  })

  it('tells who waits of the end of the session', async () => {
    const client = await site.open()
    await new Barrier(client, site.path).raise()
    const failing = failureOf(new Barrier(client, site.path).wait())
    await client.exists('/')
    await expireSession(site.server, client.sessionId, client.sessionPassword)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
  })
})

describe('DoubleBarrier', () => {
  const site = new Site('double-barrier')

  it('lets all in together and out together, passage after passage', async () => {
    const clients = await site.many(6)
    let inside = 0
    let outside = 0
    const passages = 4
    const pass = async (client: (typeof clients)[number]) => {
      const barrier = new DoubleBarrier(client, site.path, clients.length)
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
    expect(await site.nodes()).to.deep.equal([])
    if (await site.observer.exists(site.path))
      expect((await site.observer.getChildren(site.path)).children).to.deep.equal([])
  })

  it('does not count who has given up', async () => {
    const [a, b, c] = [await site.open(), await site.open(), await site.open()]
    const first = new DoubleBarrier(a, site.path, 2)
    expect(await failureOf(first.enter({ timeout: 30 }))).to.have.property('code', 'TIMEOUT')
    await a.settled()
    const [barrier, other] = [new DoubleBarrier(b, site.path, 2), new DoubleBarrier(c, site.path, 2)]
    const entering = barrier.enter()
    const isInside = watched(entering)
    await until(async () => (await site.nodes()).length === 1)
    await b.exists('/')
    expect(isInside()).to.equal(false)
    await other.enter()
    await entering
    await Promise.all([barrier.leave(), other.leave()])
  })

  it('counts who has died no more, and waits for them no more', async () => {
    const [a, b, c] = [await site.open(), await site.open(), await site.open()]
    const died = new DoubleBarrier(a, site.path, 2).enter()
    const failing = failureOf(died)
    await until(async () => (await site.nodes()).length === 1)
    await expireSession(site.server, a.sessionId, a.sessionPassword)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    const [left, right] = [new DoubleBarrier(b, site.path, 2), new DoubleBarrier(c, site.path, 2)]
    await Promise.all([left.enter(), right.enter()])
    const leaving = left.leave()
    await until(async () => (await site.nodes()).length <= 2)
    await expireSession(site.server, c.sessionId, c.sessionPassword)
    await leaving
  })

  it('makes the node again that somebody deleted', async () => {
    const [a, b] = [await site.open(), await site.open()]
    const barrier = new DoubleBarrier(a, site.path, 2)
    const entering = barrier.enter()
    await until(async () => (await site.nodes()).length === 1)
    await site.observer.delete((await site.nodes())[0] ?? '')
    const other = new DoubleBarrier(b, site.path, 2)
    await other.enter()
    await entering
    expect(await site.nodes()).to.have.length(2)
    await Promise.all([barrier.leave(), other.leave()])
  })

  for (const opcode of [opcodes.create2, opcodes.getChildren2, opcodes.exists] as const) {
    it(`is entered and left, with one node, when the answer to ${nameOf(opcode)} is lost`, async () => {
      const saboteur = new Saboteur()
      const [a, b] = [await site.open({ dial: saboteur.dial }), await site.open()]
      await a.ensurePath(site.path)
      const lost = saboteur.loseReply(opcode)
      const [first, second] = [new DoubleBarrier(a, site.path, 2), new DoubleBarrier(b, site.path, 2)]
      const entering = first.enter()
      await lost
      await Promise.all([entering, second.enter()])
      expect(await site.nodes()).to.have.length(2)
      await Promise.all([first.leave(), second.leave()])
      expect(await site.nodes()).to.deep.equal([])
    })
  }

  it('refuses to be entered twice, to be left before, and a count that is none', async () => {
    const client = await site.open()
    const barrier = new DoubleBarrier(client, site.path, 1)
    expect(await failureOf(barrier.leave())).to.have.property('code', 'BADARGUMENTS')
    await barrier.enter()
    expect(await failureOf(barrier.enter())).to.have.property('code', 'BADARGUMENTS')
    await barrier.leave()
    for (const count of [0, -1, 1.5, NaN])
      expect(() => new DoubleBarrier(client, site.path, count))
        .to.throw()
        .with.property('code', 'BADARGUMENTS')
  })
})

function nameOf(opcode: number): string {
  return Object.entries(opcodes).find(([, number]) => number === opcode)?.[0] ?? String(opcode)
}
