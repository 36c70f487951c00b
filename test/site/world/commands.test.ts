import { expect } from 'chai'
import type { ClientPicture } from '../../../site/world/picture.ts'
import type { Scenario } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'

/** Opens a world at rest, in which the first client holds the lock. */
async function atRest(scenario: Partial<Scenario> = {}): Promise<World> {
  const world = await World.open({ recipe: 'mutex', clients: 3, servers: 1, seed: 11, ...scenario })
  await world.settle()
  return world
}

const client = (world: World, id: number): ClientPicture =>
  world.picture().clients.find(each => each.id === id) as ClientPicture
const roles = (world: World) => world.picture().clients.map(({ role }) => role)
const lines = (world: World, id: number) => client(world, id).journal.map(({ text }) => text)

describe('a command', () => {
  it('releases what a client holds; the client can join again', async () => {
    await using world = await atRest()
    await world.act({ kind: 'release', client: 1 })
    await world.settle()
    expect(roles(world)).to.deep.equal(['done', 'holding', 'waiting'])
    await world.act({ kind: 'join', client: 1 })
    await world.settle()
    expect(roles(world)).to.deep.equal(['waiting', 'holding', 'waiting'])
    const [{ waiting, ms, by, counters } = {}] = world.picture().releases
    expect({ waiting, ms, by }).to.deep.equal({ waiting: 2, ms: 10, by: 1 })
    // The second command is no part of the release.
    expect(counters?.byKind).to.deep.equal({ connect: 0, request: 2, answer: 2, notification: 2, ping: 0 })
  })

  it('releases nothing if the client holds nothing', async () => {
    await using world = await atRest()
    await world.act({ kind: 'release', client: 2 })
    await world.settle()
    expect(roles(world)).to.deep.equal(['holding', 'waiting', 'waiting'])
    expect(lines(world, 2).at(-1)).to.equal('holds nothing')
  })

  it('kills a process: its session expires, and the next client holds the lock; it can start again', async () => {
    await using world = await atRest()
    await world.act({ kind: 'kill', client: 1 })
    await world.advance(5000)
    expect(client(world, 1)).to.include({ process: 'dead', server: undefined, role: 'none', node: undefined })
    expect(roles(world)[1]).to.equal('waiting')
    await world.advance(8000)
    expect(roles(world)[1]).to.equal('holding')
    expect(world.picture().servers[0]?.sessions.map(session => session.client)).to.deep.equal([2, 3])
    await world.act({ kind: 'join', client: 1 })
    await world.settle()
    expect(client(world, 1)).to.include({ process: 'running', state: 'connected', role: 'waiting' })
  })

  it('stops a process: nothing of it is sent, its lease runs out, and it finds that out when it goes on', async () => {
    await using world = await atRest()
    await world.act({ kind: 'stop', client: 1, seconds: 14 })
    const before = world.frames.length
    await world.advance(4000)
    const { lease, process, stoppedUntil } = client(world, 1)
    expect(process).to.equal('stopped')
    expect(lease.left).to.be.within(5000, 6000)
    expect((stoppedUntil ?? 0) - world.now).to.equal(10_000)
    await world.advance(9000)
    expect(client(world, 1).lease.left).to.equal(0)
    expect(world.frames.slice(before).some(frame => frame.client === 1 && frame.direction === 'up')).to.equal(false)
    await world.advance(3000)
    expect(client(world, 1)).to.include({ process: 'running', state: 'expired', role: 'lost', stoppedUntil: undefined })
    expect(roles(world)[1]).to.equal('holding')
  })

  it('stops a process for so short that its session survives', async () => {
    await using world = await atRest()
    await world.act({ kind: 'stop', client: 1, seconds: 5 })
    await world.advance(6000)
    await world.settle()
    expect(client(world, 1)).to.include({ state: 'connected', role: 'holding' })
  })

  it('cuts a line: both ends notice, and the session goes on with another connection', async () => {
    await using world = await atRest()
    const { session } = client(world, 1)
    await world.act({ kind: 'cut', client: 1 })
    await world.advance(6)
    expect(client(world, 1)).to.include({ state: 'suspended', server: undefined })
    await world.settle()
    expect(client(world, 1)).to.include({ state: 'connected', role: 'holding', session })
  })

  it('unplugs a line: nothing arrives until it is plugged in', async () => {
    await using world = await atRest()
    await world.act({ kind: 'unplug', client: 2, seconds: 3 })
    await world.act({ kind: 'release', client: 1 })
    await world.advance(1000)
    expect(client(world, 2)).to.include({ role: 'waiting' })
    const notification = world.frames.find(({ kind, client: id }) => kind === 'notification' && id === 2)
    expect(notification?.arrivesAt).to.equal(Infinity)
    const { unpluggedUntil } = client(world, 2)
    await world.advance(2000)
    expect(notification?.arrivesAt).to.equal(unpluggedUntil)
    expect(client(world, 2)).to.include({ role: 'holding', unpluggedUntil: undefined })
  })

  it('loses one answer, with its connection', async () => {
    await using world = await atRest()
    await world.act({ kind: 'lose answer', client: 1 })
    await world.act({ kind: 'release', client: 1 })
    await world.settle()
    const lost = world.frames.filter(({ lostAt }) => lostAt !== undefined)
    expect(lost.map(({ client: id, kind, op }) => [id, kind, op])).to.deep.equal([[1, 'answer', 'delete']])
    expect(lost[0]?.lostAt).to.be.within((lost[0]?.sentAt ?? 0) + 1, (lost[0]?.sentAt ?? 0) + 4)
    expect(roles(world)).to.deep.equal(['done', 'holding', 'waiting'])
    expect(lines(world, 1).at(-1)).to.equal('has released')
  })

  it('expires a session', async () => {
    await using world = await atRest()
    await world.act({ kind: 'expire', client: 1 })
    await world.settle()
    expect(client(world, 1)).to.include({ state: 'expired', role: 'lost', server: undefined })
    expect(roles(world)[1]).to.equal('holding')
  })

  it('deletes a node by an operator, whose frames are shown too', async () => {
    await using world = await atRest()
    const { node = '' } = client(world, 1)
    await world.act({ kind: 'delete node', path: node })
    await world.settle()
    expect(world.frames.some(frame => frame.client === 0 && frame.op === 'delete')).to.equal(true)
    expect(world.picture().clients.map(({ id }) => id)).to.deep.equal([1, 2, 3])
    expect(roles(world)[1]).to.equal('holding')
    expect(world.history(node).map(({ what, client: by }) => [what, by])).to.deep.equal([
      ['created', 1],
      ['deleted', 0],
    ])
  })

  it('restarts a server: it is away for a second, and the sessions survive', async () => {
    await using world = await atRest()
    await world.act({ kind: 'restart server', server: 1 })
    await world.advance(500)
    expect(world.picture().servers[0]?.mode).to.equal('stopped')
    expect(client(world, 1).state).to.equal('suspended')
    await world.advance(2000)
    await world.settle()
    expect(world.picture().servers[0]?.mode).to.equal('standalone')
    expect(world.picture().clients.map(({ state }) => state)).to.deep.equal(['connected', 'connected', 'connected'])
    expect(roles(world)).to.deep.equal(['holding', 'waiting', 'waiting'])
  })

  it('cuts a leader off: the others elect another; when it is healed, it follows', async () => {
    await using world = await atRest({ servers: 3 })
    const modes = () => world.picture().servers.map(({ mode }) => mode)
    const leader = modes().indexOf('leader') + 1
    await world.act({ kind: 'cut off', server: leader })
    await world.advance(8000)
    expect(modes()[leader - 1]).to.equal('looking')
    expect(modes()).to.include('leader')
    await world.act({ kind: 'heal', server: leader })
    await world.advance(2000)
    expect(modes()[leader - 1]).to.equal('follower')
  })

  it('that writes makes the servers of an ensemble exchange messages, which are shown on their way', async () => {
    await using world = await atRest({ servers: 3 })
    await world.act({ kind: 'release', client: 1 })
    const seen = new Set<string>()
    for (let ms = 0; ms < 60; ms++) {
      for (const { kind, sentAt, arrivesAt } of world.picture().messages) {
        seen.add(kind)
        expect(world.now).to.be.within(sentAt, arrivesAt - 1)
      }
      await world.advance(1)
    }
    expect([...seen]).to.include.members(['proposal', 'ack', 'commit'])
    await world.settle()
    expect(world.picture().messages.filter(({ kind }) => !/^p[io]ng$/.test(kind))).to.deep.equal([])
    const [one, ...others] = world.picture().servers.map(({ nodes }) => nodes.map(({ path }) => path))
    for (const other of others) expect(other).to.deep.equal(one)
  })

  it('of a client at the observer reaches the voters through the leader, and comes back as `inform`', async () => {
    await using world = await atRest({ recipe: 'bare-clients', clients: 8, servers: '3 and an observer' })
    const { clients, servers } = world.picture()
    expect(servers.map(({ mode }) => mode)).to.deep.equal(['follower', 'follower', 'leader', 'observer'])
    expect(servers.map(({ isObserver }) => isObserver)).to.deep.equal([false, false, false, true])
    const { id } = clients.find(({ server }) => server === 4) ?? expect.fail()
    const since = world.messages.at(-1)?.n ?? 0
    for (const call of [
      { op: 'create', path: '/a', data: '', mode: 'persistent' },
      { op: 'sync', path: '/a' },
    ] as const) {
      await world.act({ kind: 'call', client: id, call })
      await world.settle()
    }
    const sent = world.messages.filter(({ n, kind }) => n > since && kind !== 'ping' && kind !== 'pong')
    expect(sent.map(({ kind, from, to }) => `${kind} ${from} ${to}`)).to.deep.equal([
      ...['request 4 3', 'proposal 3 1', 'proposal 3 2', 'ack 1 3', 'ack 2 3', 'commit 3 1', 'commit 3 2'],
      ...['inform 3 4', 'request 4 3', 'reply 3 4'],
    ])
    const said = new Map(sent.map(({ kind, sentence }) => [kind, sentence]))
    expect(said.get('inform')).to.match(
      /^Server 3 tells server 4, an observer, to apply transaction 0x1\w{8}: a majority/,
    )
    expect(said.get('request')).to.match(new RegExp(`^Server 4 passes on .* the sync of client ${id}\\.$`))
    expect(lines(world, id)).to.include.members(['created /a', 'synced /a'])
  })

  it('is ignored if it is not possible now', async () => {
    await using world = await atRest()
    await world.act({ kind: 'kill', client: 3 })
    await world.settle()
    const count = world.frames.length
    await world.act({ kind: 'release', client: 3 })
    await world.act({ kind: 'stop', client: 3, seconds: 1 })
    await world.act({ kind: 'cut off', server: 1 })
    await world.act({ kind: 'heal', server: 3 })
    await world.act({ kind: 'restart server', server: 3 })
    await world.settle()
    expect(world.frames).to.have.length(count)
  })

  it('is refused if the story would have too many', async () => {
    await using world = await atRest({ recipe: 'bare-clients', clients: 1 })
    for (let i = 0; i < 200; i++) expect(await world.act({ kind: 'release', client: 1 })).to.equal(true)
    expect(await world.act({ kind: 'release', client: 1 })).to.equal(false)
    expect(world.story.commands).to.have.length(200)
  })
})
