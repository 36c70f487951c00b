// Histories of worlds whose servers lag, as their clients saw them.
import { expect } from 'chai'
import { seededRandom } from '../../../environment/seeded-random.ts'
import { nodeHistoryOf, type Subject } from '../../../site/history/node-history.ts'
import type { Call } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'

const [register, lock, counter]: Subject[] = [
  ...[{ is: 'register', path: '/r' } as const, { is: 'lock', path: '/l' } as const],
  { is: 'counter', path: '/c' },
]

async function opened(seed: number, clients = 3): Promise<World> {
  const world = await World.open({ recipe: 'bare-clients', clients, servers: 3, seed })
  await world.settle()
  return world
}

const call = (world: World, client: number, call: Call) => world.act({ kind: 'call', client, call })
const verdictOn = (world: World, subject: Subject) => nodeHistoryOf(world.picture().operations, subject, true).verdict
const isLegal = (world: World, subject: Subject) => verdictOn(world, subject)?.order !== undefined

const reads: readonly Call[] = [
  { op: 'get', path: '/r', watch: false },
  { op: 'exists', path: '/l', watch: false },
  { op: 'get', path: '/c', watch: false },
]
const writes: readonly Call[] = [
  { op: 'create', path: '/r', data: 'first', mode: 'persistent' },
  { op: 'set', path: '/r', data: 'a' },
  { op: 'set', path: '/r', data: 'b' },
  { op: 'create', path: '/l', data: '', mode: 'ephemeral' },
  { op: 'delete', path: '/l' },
  { op: 'increment', path: '/c' },
]

/** Lets clients call at random while server 1 lags, and returns the world. @param syncs whether a client syncs before it reads */
async function run(seed: number, calls: readonly Call[], syncs: boolean): Promise<World> {
  const random = seededRandom(seed)
  const draw = (count: number) => Math.floor(count * random())
  const world = await opened(seed)
  await world.act({ kind: 'lag', server: 1, seconds: 1 })
  for (let i = 0; i < 40; i++) {
    const idle = world.picture().clients.filter(({ requests }) => requests.length === 0)
    const { id } = idle[draw(idle.length)] ?? { id: 0 }
    const next = calls[draw(calls.length)] ?? expect.fail()
    if (id > 0 && syncs && reads.includes(next)) {
      await call(world, id, { op: 'sync', path: next.path })
      await world.settle()
    }
    if (id > 0) await call(world, id, next)
    await world.advance(draw(10) === 0 ? 500 : draw(30))
  }
  await world.settle()
  return world
}

describe('the history of a node', () => {
  it('is legal for each object, if clients only write, although a server lags', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      await using world = await run(seed, writes, false)
      for (const subject of [register, lock, counter] as Subject[])
        expect(verdictOn(world, subject)?.text).to.match(/^Legal/)
    }
  })

  it('is legal if each client sends `sync` before it reads, and in some worlds not legal if none does', async () => {
    let illegal = 0
    for (let seed = 1; seed <= 5; seed++)
      for (const syncs of [true, false]) {
        await using world = await run(seed, [...writes, ...reads], syncs)
        const verdicts = ([register, lock, counter] as Subject[]).map(subject => isLegal(world, subject))
        if (syncs) expect(verdicts).to.deep.equal([true, true, true])
        else illegal += verdicts.filter(isLegal => !isLegal).length
      }
    expect(illegal).to.be.at.least(1)
  })

  it('has no result for a write whose connection was lost, and is judged with both', async () => {
    await using world = await opened(13, 2)
    const set = (data: string): Call => ({ op: 'set', path: '/r', data })
    await call(world, 2, { op: 'create', path: '/r', data: 'old', mode: 'persistent' })
    await world.settle()
    await call(world, 2, set('new'))
    await world.act({ kind: 'kill', client: 2 })
    await world.settle()
    await call(world, 1, { op: 'get', path: '/r', watch: false })
    await world.settle()
    const { operations, verdict } = nodeHistoryOf(world.picture().operations, register as Subject, true)
    expect(operations.map(({ text, until }) => [text, until === undefined])).to.deep.equal([
      ['set old', false],
      ['set new → ?', true],
      ['get → new', false],
    ])
    expect(verdict?.order?.map(({ operation }) => operation.letter)).to.deep.equal(['A', 'B', 'C'])
  })

  it('is not judged before the reader is', async () => {
    await using world = await opened(13, 2)
    expect(nodeHistoryOf(world.picture().operations, register as Subject, false).verdict).to.equal(undefined)
  })
})
