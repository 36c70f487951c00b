// A random world for a cache, in virtual time: one server or three, of which some lag, a writer, other sessions and faults.
// The model is the server's tree, and the sum of the changes told. The same seed repeats the same world.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { connect, type Client } from '../../../src/index.ts'
import { isCode, type Stat } from '../../../src/protocol/index.ts'
import { Cache, type CacheChange, type CacheNode, type CacheOptions } from '../../../src/recipes/index.ts'
import { Server, type FaultKind, type Member } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { oneOf, seededRandom, type Random } from '../../support/seeded-random.ts'
import { RandomWriter } from './random-writer.ts'

const ROOT = '/r'
/** The time in which a copy must become equal to the tree after the last fault, ms. */
const PATIENCE = 60_000

const faultKinds: readonly FaultKind[] = [
  ...(['getData', 'getChildren2', 'multiRead', 'addWatch', 'exists', 'sync'] as const),
  ...(['setWatches', 'setWatches2', 'ping', 'connect', 'event', 'event', 'event'] as const),
]

/** What a node's Stat says about its data and its place in time. */
const stateOf = ({ data, stat: { czxid, mzxid, version } }: Pick<CacheNode, 'data' | 'stat'>): string =>
  `${czxid} ${mzxid} ${version} ${data === undefined ? 'left out' : data === null ? 'none' : data.toString('hex')}`

export interface WorldResult {
  violations: string[]
  trace: string[]
  changes: number
  faults: number
}

export const explore = (seed: number): Promise<WorldResult> => new World(seed).run()

class World {
  readonly #random: Random
  readonly #clock = new VirtualClock()
  readonly #violations: string[] = []
  readonly #trace: string[] = []
  /** The nodes as the changes told describe them. */
  readonly #shadow = new Map<string, string>()
  /** The czxid or mzxid of the last change told of each path. */
  readonly #last = new Map<string, bigint>()
  /** All states of each path that have existed at the server. */
  readonly #history = new Map<string, Set<string>>()
  readonly #options: CacheOptions
  readonly #isOneShot: boolean
  #server!: Server
  #writer!: RandomWriter
  #client!: Client
  #cache!: Cache
  #reader: Promise<void> = Promise.resolve()
  /** The nodes as the iteration that began last describes them; undefined if that was of an earlier cache. */
  #late: Map<string, string> | undefined
  #heard: CacheChange[] = []
  #read: CacheChange[] = []
  #changes = 0
  #faults = 0

  constructor(seed: number) {
    const random = (this.#random = seededRandom(seed))
    this.#isOneShot = random() < 0.3
    const skips = oneOf(random, ['', '/r/b', '/r/a/a'])
    this.#options = {
      depth: oneOf(random, [0, 1, 2, Infinity, Infinity, Infinity]),
      ...(skips !== '' && random() < 0.5 && { paths: (path: string) => path !== skips }),
      ...(random() < 0.2 && { data: false }),
      ...(random() < 0.2 && { data: (path: string) => !path.endsWith('a') }),
      ...(random() < 0.2 && { codec: { encode: deflateRawSync, decode: inflateRawSync } }),
    }
  }

  async run(): Promise<WorldResult> {
    const random = this.#random
    this.#server = await Server.start({
      listen: false,
      clock: this.#clock,
      random: seededRandom(1),
      version: oneOf(random, ['3.8.0', '3.8.6', '3.9.5']),
      tickTime: 100,
      servers: random() < 0.4 ? 3 : 1,
      onTransaction: () => this.#recordTransaction(),
    })
    // Until the servers have all the timers that they have while no client is there.
    await this.#clock.advance(1000)
    const timers = this.#clock.pendingTimers
    try {
      await this.#clock.until(this.#explore(), { within: 3_600_000 })
      const left = this.#clock.pendingTimers - timers
      if (left > 0) this.#violations.push(`${left} timers remain`)
    } catch (error) {
      this.#violations.push(`the world failed: ${String((error as Error).stack)}`)
    }
    await this.#server.close()
    return { violations: this.#violations, trace: this.#trace, changes: this.#changes, faults: this.#faults }
  }

  async #explore(): Promise<void> {
    const random = this.#random
    this.#writer = await RandomWriter.open({
      root: ROOT,
      random,
      server: this.#server,
      hides: !this.#isOneShot,
      open: () => this.#open(),
      sleep: ms => this.#sleep(ms),
      note: what => this.#note(what),
    })
    if (random() < 0.7) await this.#writer.burst(10)
    this.#client = await this.#openCached()
    this.#newCache()
    const bursts = 1 + Math.floor(4 * random())
    for (let i = 0; i < bursts && this.#violations.length === 0; i++) {
      await Promise.all([
        this.#writer.burst(1 + Math.floor(12 * random())),
        random() < 0.7 ? this.#injectFaults() : undefined,
        this.#sleep(Math.floor(100 * random())).then(() => this.#readLate()),
      ])
      await this.#compare()
    }
    await this.#cache.close()
    await this.#reader
    await this.#client.settled()
    const watches = this.#server.snapshot().watches.filter(({ session }) => session === this.#client.sessionId)
    if (watches.length > 0) this.#violations.push(`watches remain: ${watches.map(({ path }) => path).join(' ')}`)
    await Promise.all([this.#client.close(), this.#writer.close()])
    for (const member of this.#server.members) member.lag(0)
    // A session whose client has not got its reply expires.
    await this.#sleep(5000)
  }

  #open(): Promise<Client> {
    return connect(this.#server.connectString, {
      dial: this.#server.dial,
      clock: this.#clock,
      random: seededRandom(2),
      sessionTimeout: 2000,
      connectTimeout: PATIENCE,
      onUncaughtError: error => this.#violations.push(`a callback threw ${String(error)}`),
    })
  }

  async #openCached(): Promise<Client> {
    const client = await this.#open()
    if (this.#isOneShot)
      this.#server.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity, session: client.sessionId })
    return client
  }

  // The cache

  #newCache(previous?: Cache): void {
    this.#note(`a cache${previous === undefined ? '' : ' after another'}`)
    const cache = new Cache(this.#client, ROOT, { ...this.#options, previous })
    this.#cache = cache
    this.#heard = []
    this.#read = []
    this.#late = undefined
    cache.on('change', change => this.#heard.push(change))
    this.#reader = this.#readChanges(cache)
  }

  async #readChanges(cache: Cache): Promise<void> {
    // Those of the previous cache come first.
    let known = cache.size
    await this.#eachChange(cache, change => {
      if (known === 0) return this.#onChange(change)
      known--
      const { type, path, node } = change
      if (type !== 'created' || node === undefined || this.#shadow.get(path) !== stateOf(node))
        this.#violations.push(`an iteration begins with ${type} ${path} instead of ${this.#shadow.get(path) ?? 'none'}`)
    })
  }

  /** Adds up an iteration that begins now. */
  #readLate(): void {
    const late = (this.#late = new Map<string, string>())
    void this.#eachChange(this.#cache, ({ path, node }) => {
      if (node === undefined) late.delete(path)
      else late.set(path, stateOf(node))
    })
  }

  async #eachChange(cache: Cache, onChange: (change: CacheChange) => void): Promise<void> {
    try {
      for await (const change of cache.changes()) onChange(change)
    } catch (error) {
      if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED')) this.#violations.push(`the cache ended: ${String(error)}`)
    }
  }

  /** Checks one change, and adds it to the shadow. */
  #onChange(change: CacheChange): void {
    const { type, path, node, old } = change
    this.#changes++
    this.#read.push(change)
    this.#note(`told ${type} ${path} ${node ? stateOf(node) : ''} after ${old ? stateOf(old) : 'nothing'}`)
    const fail = (what: string) => this.#violations.push(`${what}: ${type} ${path}`)
    if (this.#shadow.get(path) !== (old && stateOf(old))) fail(`a change from ${this.#shadow.get(path) ?? 'nothing'}`)
    const kind = node === undefined ? ['deleted', 'hidden'] : old === undefined ? ['created'] : ['changed']
    if (!kind.includes(type)) fail('a wrong type')
    if (type === 'changed' && node?.stat.czxid !== old?.stat.czxid) fail('another node with the same path')
    if (type === 'deleted') {
      const present = this.#server.snapshot().nodes.get(path)
      if (present?.stat.czxid === old?.stat.czxid) fail('a deletion of a node that is there')
    }
    if (node === undefined) this.#shadow.delete(path)
    else {
      this.#shadow.set(path, stateOf(node))
      if (this.#history.get(path)?.has(stateOf(node)) !== true) fail(`a state that never was, ${stateOf(node)}`)
      // A node that became readable again is told with the same transaction.
      const last = this.#last.get(path) ?? 0n
      if (node.stat.mzxid < last || (node.stat.mzxid === last && type === 'changed')) fail('a step back')
      this.#last.set(path, node.stat.mzxid)
    }
  }

  /** A transaction is reported before it is done. The next one may follow at once, or none. */
  #recordTransaction(): void {
    this.#record()
    queueMicrotask(() => this.#record())
  }

  /** Keeps all states of all nodes, in each form in which a cache may keep their data. */
  #record(): void {
    for (const [path, { data, stat }] of this.#server.snapshot().nodes) {
      const states = this.#history.get(path) ?? new Set()
      this.#history.set(path, states)
      states.add(stateOf({ data, stat })).add(stateOf({ data: undefined, stat }))
    }
  }

  // Comparison

  async #compare(): Promise<void> {
    this.#server.faults.clear()
    const deadline = this.#clock.now() + PATIENCE
    for (;;) {
      if (this.#cache.state === 'closed') {
        await this.#reader
        await this.#client.close()
        this.#client = await this.#openCached()
        this.#newCache(this.#cache)
      }
      if (this.#cache.state === 'live' && this.#difference() === undefined) break
      if (this.#clock.now() > deadline) {
        this.#violations.push(`the copy differs, ${this.#cache.state}: ${this.#difference() ?? ''}`)
        return
      }
      await this.#sleep(10)
    }
    await this.#sleep(50)
    const difference = this.#difference()
    if (difference !== undefined) this.#violations.push(`the copy differs later: ${difference}`)
    const kept = [...this.#cache].map(node => `${node.path} ${stateOf(node)}`).sort()
    for (const sum of [this.#shadow, this.#late ?? this.#shadow]) {
      const told = [...sum].map(([path, state]) => `${path} ${state}`).sort()
      if (told.join() !== kept.join())
        this.#violations.push(`the changes add up to ${told.join()}, and not ${kept.join()}`)
    }
    if (this.#heard.length !== this.#read.length) this.#violations.push('listeners get other changes than readers')
  }

  /** Returns how the copy differs from the server's tree, in what the session may read. */
  #difference(): string | undefined {
    const { nodes } = this.#server.snapshot()
    const { depth = Infinity, paths, data: keeps } = this.#options
    const dataOf = (path: string, data: Buffer | null, stat: Stat) =>
      keeps === false || (typeof keeps === 'function' && !keeps(path, stat)) ? undefined : data
    const isHidden = (path: string) => ancestors(path).some(each => nodes.get(each)?.acl[0]?.id.scheme === 'digest')
    const isWanted = (path: string) =>
      ancestors(path).every(each => each === ROOT || paths?.(each) !== false) && path.split('/').length - 2 <= depth
    const expected = [...nodes]
      .filter(([path]) => ancestors(path).includes(ROOT) && isWanted(path) && !isHidden(path))
      .map(([path, { data, stat }]) => `${path} ${stateOf({ data: dataOf(path, data, stat), stat })}`)
    const actual = [...this.#cache]
      .filter(({ path }) => !isHidden(path))
      .map(node => `${node.path} ${stateOf(node)}`)
      .sort()
    const lists = [...this.#cache].flatMap(({ path }) =>
      (this.#cache.children(path) ?? []).map(name => `${path}/${name}`),
    )
    if (lists.length !== Math.max(0, this.#cache.size - 1)) return `children ${lists.join()}`
    return expected.sort().join() === actual.join()
      ? undefined
      : `${actual.join('; ')} but the tree ${expected.join('; ')}`
  }

  // Faults

  async #injectFaults(): Promise<void> {
    const random = this.#random
    const count = 1 + Math.floor(3 * random())
    for (let i = 0; i < count; i++) {
      await this.#sleep(Math.floor(40 * random()))
      this.#faults++
      this.#inject(random())
    }
  }

  #inject(which: number): void {
    const random = this.#random
    const { faults, members } = this.#server
    if (members.length > 1 && random() < 0.5) return this.#injectIntoEnsemble(members)
    const session = this.#client.sessionId
    const match = { session, nth: 1 + Math.floor(3 * random()) }
    const kind = oneOf(random, faultKinds)
    this.#note(`fault ${which.toFixed(2)} ${kind}`)
    if (which < 0.25) this.#server.dropConnections()
    else if (which < 0.45) faults.drop(kind, match)
    else if (which < 0.55 && kind !== 'event') faults.ignore(kind, match)
    else if (which < 0.7) faults.delay(kind, Math.floor(500 * random()), match)
    else if (which < 0.8) faults.cutAfter(Math.floor(300 * random()), { session })
    else if (which < 0.85) faults.replace(oneOf(random, ['getData', 'getChildren2', 'multiRead']), 'THROTTLEDOP', match)
    else if (which < 0.93) this.#server.expireSession(session)
    else void this.#cache.close()
  }

  #injectIntoEnsemble(members: readonly Member[]): void {
    if (this.#random() < 0.2) return void this.#server.elect()
    const [member, ms] = [oneOf(this.#random, members), oneOf(this.#random, [0, 10, 50, 200])]
    this.#note(`the server ${member.id} lags by ${ms} ms`)
    // A majority of the servers does not lag.
    for (const each of members) each.lag(each === member ? ms : 0)
  }

  // Tools

  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.#clock.setTimeout(resolve, ms))
  }

  #note(what: string): void {
    this.#trace.push(`${this.#clock.now()} ${what}`)
  }
}

/** Returns the paths of a node and of all nodes above it, but the root of the tree. */
function ancestors(path: string): string[] {
  const names = path.split('/').slice(1)
  return names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`)
}
