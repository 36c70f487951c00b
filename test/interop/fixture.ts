// The fixture of the interop tests: two zkwire clients and two peers of another library on one server, with a new path
// for each test.
import { expect } from 'chai'
import type { Context } from 'mocha'
import { connect, type Client } from '../../src/index.ts'
import type { Lock } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { sharedServer } from '../support/shared-server.ts'
import { increment, incrementAll, handOverCount, readTwice, ours, type Contender } from './contender.ts'
import type { Library, Peer, PeerOptions, StartPeer } from './peers.ts'

const ROUNDS = 40

/** Of a peer that is killed, so that its nodes are soon gone. */
export const SHORT: PeerOptions = { sessionTimeout: 2000 }

let run = 0

export class InteropFixture {
  connectString = ''
  clients: readonly Client[] = []
  peers: readonly Peer[] = []
  path = ''
  /** The path of a node whose data is a number. */
  counter = ''
  /** Starts another peer. */
  start!: StartPeer

  get client(): Client {
    return this.clients[0] as Client
  }

  get peer(): Peer {
    return this.peers[0] as Peer
  }

  /** Makes a contender of each zkwire client. */
  ours(make: (client: Client) => Pick<Lock, 'acquire'>): Contender[] {
    return this.clients.map((client, i) => ours(`ours ${i}`, client, make(client)))
  }

  /** Makes a contender of each peer. */
  theirs(kind: string): Contender[] {
    return this.peers.map((peer, i) => peer.contender(`theirs ${i}`, kind, this.path))
  }

  async expectNoLostUpdate(contenders: readonly Contender[]): Promise<void> {
    const increments = await incrementAll(contenders, this.counter, ROUNDS)
    const total = ROUNDS * contenders.length
    expect(increments.map(({ previous }) => previous)).to.deep.equal(Array.from({ length: total }, (_, i) => i))
    expect(await this.counterValue()).to.equal(total)
    // All contenders wait all the time, so a fair lock alternates between them.
    expect(handOverCount(increments)).to.be.greaterThan(total / 2)
  }

  /** Writers lose no update, and no reader sees the counter change while it holds its lock. */
  async expectNoTornRead(writers: readonly Contender[], readers: readonly Contender[]): Promise<void> {
    const readings: (readonly [string, string])[] = []
    const reading = async (reader: Contender) => {
      for (let round = 0; round < ROUNDS; round++) readings.push(await readTwice(reader, this.counter))
    }
    await Promise.all([this.expectNoLostUpdate(writers), ...readers.map(reading)])
    expect(readings.filter(([first, second]) => first !== second)).to.deep.equal([])
    // Readers got the lock between writers, not only after the last one.
    expect(new Set(readings.map(([first]) => first)).size).to.be.greaterThan(ROUNDS / 4)
  }

  /** The peer holds the lock, and our contender gets it nevertheless. */
  async expectLostUpdate(mine: Contender, their: Contender): Promise<void> {
    await their.acquire()
    const found = await their.read(this.counter)
    expect(await increment(mine, this.counter)).to.deep.equal({ name: mine.name, previous: 0 })
    await their.write(this.counter, String(Number(found) + 1))
    await their.release()
    expect(await this.counterValue(), 'the counter after two increments').to.equal(1)
  }

  async counterValue(): Promise<number> {
    return Number((await this.client.getData(this.counter)).data)
  }
}

interface RunningServer {
  connectString: string
  /** Undefined for a server that other tests share. */
  close?: () => Promise<void>
}

const servers: Readonly<Record<string, () => Promise<RunningServer>>> = {
  'Apache ZooKeeper': async () => ({ connectString: (await sharedServer()).connectString }),
  'the embedded server': () => Server.start({ tickTime: 500 }),
}

/**
 * Runs the suite with each library on Apache ZooKeeper and on the embedded server, which must look like a ZooKeeper to
 * other libraries.
 * @param title begins the title of the suite, which ends with the names of the library and of the server
 */
export function describeInterop(
  title: string,
  libraries: readonly Library[],
  suite: (all: InteropFixture) => void,
): void {
  for (const library of libraries)
    for (const [name, serve] of Object.entries(servers))
      describe(`${title} ${library.name}, on ${name},`, () => suite(setUpFixture(serve, library)))
}

/**
 * Provides a library, which may have to be installed first. Skips the tests of `hook`, and says why, if the tests can do
 * without it and this machine cannot have it. `PEERS=required` makes that an error.
 */
export async function provide(library: Library, hook: Context): Promise<StartPeer> {
  hook.timeout(600_000)
  try {
    return await library.provide()
  } catch (error) {
    if (library.isOptional !== true || process.env['PEERS'] === 'required') throw error
    console.error(`${library.name} is not tested, because it cannot be had: ${(error as Error).message}`)
    return hook.skip()
  }
}

/** Returns a fixture whose fields are set before each test. */
function setUpFixture(serve: () => Promise<RunningServer>, library: Library): InteropFixture {
  const all = new InteropFixture()
  let server: RunningServer | undefined
  before(async function () {
    all.start = await provide(library, this)
    server = await serve()
    const { connectString } = server
    all.connectString = connectString
    all.clients = await Promise.all([1, 2].map(() => connect(connectString, { sessionTimeout: 6000 })))
    all.peers = await Promise.all([1, 2].map(() => all.start(connectString)))
    await Promise.all(all.peers.map(peer => peer.ask('session')))
  })
  after(async () => {
    await Promise.all([...all.clients, ...all.peers].map(each => each.close()))
    await server?.close?.()
  })
  beforeEach(async () => {
    all.path = `/interop-${++run}`
    all.counter = `${all.path}-counter`
    await all.client.create(all.counter, '0')
  })
  afterEach(async () => {
    await all.client.deleteRecursive(all.path)
    await all.client.delete(all.counter)
  })
  return all
}
