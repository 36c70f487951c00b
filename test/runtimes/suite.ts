// What every runtime has to pass, on the package as it is installed. It runs inside the runtime: nothing of mocha is at hand.
import assert from 'node:assert/strict'
import {
  connect,
  ZooKeeperError,
  type Client,
  type ConnectOptions,
  type ErrorCode,
  type State,
  type WatchEvent,
} from '../../src/index.ts'
import { LockError, Mutex, ReentrantMutex } from '../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../src/server/index.ts'

/** What the suite needs to know of its surroundings, as JSON. */
export interface SuiteInput {
  /** A connect string with a chroot of this run's own. */
  servers: string
  /** A URL: a GET resets every connection to those servers. */
  resetUrl: string
  /** A server that speaks TLS with a certificate of `ca`, and servers whose certificates are not to be believed. */
  secure: { servers: string; ca: string; impostors: string[] }
}

/** How the bytes are to go, where they do not go by node:net. */
export interface SuiteOptions {
  plain?: ConnectOptions
  secure?: ConnectOptions
  /** How a certificate that is not believed is told. */
  untrustedCode?: ErrorCode
}

export interface Outcome {
  runtime: string
  /** By the name of the step: null where it passed, else what went wrong. */
  results: Record<string, string | null>
}

type Open = (options?: ConnectOptions, servers?: string) => Promise<Client>
type Step = (open: Open, place: SuiteInput, ways: SuiteOptions) => Promise<void>

const CONTENDERS = 5
const ROUNDS = 3
const SESSION_TIMEOUT = 2000
const STEP_DEADLINE = 15_000

const anyServerSteps: Readonly<Record<string, Step>> = {
  async 'opens a session, and keeps 64-bit ids whole'(open) {
    const zk = await open()
    assert.equal(zk.state, 'connected')
    assert.equal(typeof zk.sessionId, 'bigint')
    assert.ok(zk.sessionId > 2n ** 53n, 'an id beyond what a number holds')
    assert.ok(zk.validFor() > 0 && zk.validFor() <= zk.sessionTimeout)
  },

  async 'creates, reads, changes, lists and deletes nodes'(open) {
    const zk = await open()
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    const { path } = await zk.create('/node-', bytes, { mode: 'ephemeralSequential' })
    assert.match(path, /^\/node-\d{10}$/)
    const { data, stat } = await zk.getData(path)
    assert.deepEqual(Uint8Array.from(data ?? []), bytes)
    assert.equal(stat.ephemeralOwner, zk.sessionId)
    assert.equal((await zk.setData(path, 'žluťoučký kůň', { version: 0 })).version, 1)
    assert.equal((await zk.getData(path)).data?.toString(), 'žluťoučký kůň')
    assert.ok((await zk.getChildren('/')).children.includes(path.slice(1)))
    await assert.rejects(zk.delete(path, { version: 0 }), { code: 'BADVERSION', path, fate: 'refused' })
    await zk.transaction().check(path, { version: 1 }).delete(path).commit()
    await assert.rejects(
      zk.getData(path),
      (error: unknown) => error instanceof ZooKeeperError && error.code === 'NONODE',
    )
  },

  async 'moves a large value whole, both ways'(open) {
    const zk = await open()
    const large = new Uint8Array(900_000).map((_, i) => (i * 31) % 251)
    await zk.create('/large', large, { mode: 'ephemeral' })
    const { data } = await zk.getData('/large')
    assert.ok(data?.equals(large))
  },

  async 'hears of changes by a watch and by a watcher'(open) {
    const [zk, other] = [await open(), await open()]
    const heard = nextValue<WatchEvent>()
    assert.equal(await zk.exists('/watched', { watch: heard.post }), null)
    const watcher = await zk.addWatch('/watched', { recursive: true })
    await other.create('/watched', 'one')
    await other.create('/watched/below', 'two')
    assert.equal((await heard.letter).type, 'NodeCreated')
    const seen: string[] = []
    for await (const { type, path } of watcher) {
      seen.push(`${type} ${path}`)
      if (seen.length === 2) break
    }
    assert.deepEqual(seen, ['NodeCreated /watched', 'NodeCreated /watched/below'])
  },

  async 'shares a lock out to one at a time, and loses no update'(open) {
    const clients = await Promise.all(Array.from({ length: CONTENDERS }, () => open()))
    await clients[0]?.create('/counter', '0')
    const tokens: bigint[] = []
    const contend = async (zk: Client) => {
      const mutex = new Mutex(zk, '/locks/counter')
      for (let round = 0; round < ROUNDS; round++) {
        await mutex.use(async ({ token }) => {
          tokens.push(token)
          const { data } = await zk.getData('/counter')
          await zk.setData('/counter', String(Number(data?.toString()) + 1))
        })
      }
    }
    await Promise.all(clients.map(contend))
    assert.equal((await clients[0]?.getData('/counter'))?.data?.toString(), String(CONTENDERS * ROUNDS))
    assert.deepEqual(
      tokens,
      [...tokens].sort((a, b) => Number(a - b)),
      'fencing tokens grow',
    )
    assert.deepEqual((await clients[0]?.getChildren('/locks/counter'))?.children, [], 'nothing is left in the queue')
  },

  async 'gives up waiting for a lock by timeout and by signal'(open) {
    const [zk, other] = [await open(), await open()]
    const held = await new Mutex(zk, '/locks/taken').acquire()
    const mutex = new Mutex(other, '/locks/taken')
    assert.equal(await mutex.tryAcquire(), null)
    await assert.rejects(
      mutex.acquire({ timeout: 50 }),
      (error: unknown) => error instanceof LockError && error.code === 'TIMEOUT',
    )
    const waiting = new AbortController()
    const acquiring = mutex.acquire({ signal: waiting.signal })
    waiting.abort(new Error('enough'))
    await assert.rejects(acquiring, { message: 'enough' })
    await other.settled()
    assert.equal((await mutex.contenders()).length, 1)
    await held.release()
  },

  async 'enters a lock again from the async context that holds it, and from no other'(open) {
    const mutex = new ReentrantMutex(await open(), '/locks/again', { byContext: true })
    await mutex.use(async outer => {
      await Promise.resolve()
      await mutex.use(inner => assert.equal(inner.token, outer.token))
    })
    const turns: string[] = []
    const turn = (name: string) =>
      mutex.use(async () => {
        turns.push(name)
        await Promise.resolve()
        turns.push(name)
      })
    await Promise.all([turn('one'), turn('other')])
    assert.equal(turns[0], turns[1])
    assert.equal(turns[2], turns[3])
  },

  async 'is told that its session has expired, and its lock with it'(open) {
    const zk = await open()
    const held = await new Mutex(zk, '/locks/lost').acquire()
    const expired = whenState(zk, 'expired')
    const taker = await open({ session: { id: zk.sessionId, password: zk.sessionPassword } })
    await taker.close()
    await expired
    assert.equal(held.signal.aborted, true)
    assert.equal(held.validFor(), 0)
    await assert.rejects(zk.exists('/'), { code: 'SESSIONEXPIRED', fate: 'notSent' })
  },

  async 'closes, and takes its ephemeral nodes with it'(open) {
    const [zk, other] = [await open(), await open()]
    await zk.create('/gone', '', { mode: 'ephemeral' })
    await zk.close()
    assert.equal(zk.state, 'closed')
    assert.equal(await other.exists('/gone'), null)
    await assert.rejects(zk.exists('/'), { code: 'CLOSED', fate: 'notSent' })
  },
}

const realServerSteps: Readonly<Record<string, Step>> = {
  async 'keeps session, lock and watch through a lost connection'(open, { resetUrl }) {
    const [zk, other] = [await open(), await open()]
    const held = await new Mutex(zk, '/locks/kept').acquire()
    const heard = nextValue<WatchEvent>()
    await zk.exists('/later', { watch: heard.post })
    const { sessionId } = zk
    const back = whenState(zk, 'connected')
    await fetch(resetUrl)
    await back
    assert.equal(zk.sessionId, sessionId)
    assert.equal(held.signal.aborted, false)
    await other.retry(() => other.create('/later'))
    assert.equal((await heard.letter).type, 'NodeCreated')
    await held.release()
  },

  async 'lives through pauses longer than its session timeout by its pings'(open) {
    const zk = await open()
    await zk.create('/pinged', '', { mode: 'ephemeral' })
    await new Promise(resolve => setTimeout(resolve, SESSION_TIMEOUT * 1.5))
    assert.equal((await zk.exists('/pinged'))?.ephemeralOwner, zk.sessionId)
    assert.equal(zk.stats.disconnects, 0)
  },

  async 'says why no server could be reached'(open) {
    // Nobody listens there: it is the port of a service that was given up long ago (RFC 1078).
    await assert.rejects(open({ connectTimeout: 500 }, '127.0.0.1:1'), ({ code, cause }: ZooKeeperError) => {
      assert.equal(code, 'CONNECTTIMEOUT')
      assert.equal((cause as ZooKeeperError).code, 'CONNECTIONLOSS')
      assert.ok((cause as Error).cause instanceof Error, 'what the runtime itself said is kept')
      return true
    })
  },

  async 'speaks TLS, with a server that it can believe and no other'(open, { secure }, ways) {
    const options = ways.secure ?? { tls: { ca: secure.ca } }
    const zk = await open(options, secure.servers)
    assert.notEqual(await zk.exists('/zookeeper'), null)
    for (const impostor of secure.impostors)
      await assert.rejects(open({ ...options, connectTimeout: 1000 }, impostor), {
        code: ways.untrustedCode ?? 'PROTOCOL',
      })
  },
}

/** A server in the runtime itself, and no socket. */
const embeddedServerSteps: Readonly<Record<string, Step>> = {
  ...Object.fromEntries(
    Object.entries(anyServerSteps).map(([name, step]): [string, Step] => [
      `on a server of its own: ${name}`,
      async (_open, ...rest) => {
        await using server = await Server.start({ listen: false })
        await using party = new ClientGroup(server.connectString, { dial: server.dial })
        await step(party.open, ...rest)
      },
    ]),
  ),

  async 'on a server of its own, in virtual time: hands a lock on when its holder falls silent'() {
    const clock = new VirtualClock()
    const server = await Server.start({ listen: false, clock })
    const open = () => connect(server.connectString, { dial: server.dial, clock, sessionTimeout: 30_000 })
    const [zk, other] = [await open(), await open()]
    const held = await new Mutex(zk, '/lock').acquire()
    const next = new Mutex(other, '/lock').acquire()
    const silence = { session: zk.sessionId, times: Infinity }
    server.faults.ignore('ping', silence)
    server.faults.ignore('connect', silence)
    await clock.advance(29_000)
    assert.equal(held.signal.aborted, false)
    await clock.advance(1_000)
    assert.equal(held.signal.aborted, true)
    assert.ok((await clock.until(next)).token > held.token)
    await clock.until(Promise.all([zk.close(), other.close()]))
    await server.close()
    assert.equal(clock.pendingTimers, 0)
  },
}

export const steps: Readonly<Record<string, Step>> = { ...anyServerSteps, ...realServerSteps, ...embeddedServerSteps }

/** Runs all steps one after the other, and goes on where one fails. It opens nothing that it does not close. */
export async function run(place: SuiteInput, ways: SuiteOptions = {}): Promise<Outcome> {
  const results: Outcome['results'] = {}
  for (const [name, step] of Object.entries(steps)) {
    await using party = new ClientGroup(place.servers, ways.plain)
    results[name] = await withDeadline(step(party.open, place, ways)).then(
      () => null,
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
  }
  return { runtime: runtimeName(), results }
}

/** The clients of a step, all closed behind it. */
class ClientGroup {
  readonly #servers: string
  readonly #options: ConnectOptions
  readonly #clients: Client[] = []

  constructor(servers: string, options: ConnectOptions = {}) {
    this.#servers = servers
    this.#options = options
  }

  readonly open: Open = async (more, servers = this.#servers) => {
    const client = await connect(servers, { sessionTimeout: SESSION_TIMEOUT, ...this.#options, ...more })
    this.#clients.push(client)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map(client => client.close()))
  }
}

/** A step that hangs must not keep the others from being run. */
async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it is not done after ${STEP_DEADLINE} ms`)), STEP_DEADLINE)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Where a callback puts what somebody waits for. */
function nextValue<T>(): { post: (value: T) => void; letter: Promise<T> } {
  let post: (value: T) => void = () => undefined
  const letter = new Promise<T>(resolve => (post = resolve))
  return { post, letter }
}

function whenState(zk: Client, wanted: State): Promise<void> {
  return new Promise(resolve => {
    zk.on('state', state => {
      if (state === wanted) resolve()
    })
  })
}

/** As the runtime names itself. */
function runtimeName(): string {
  const { Bun, Deno, navigator } = globalThis as {
    Bun?: { version: string }
    Deno?: { version: { deno: string } }
    navigator?: { userAgent: string }
  }
  if (Bun !== undefined) return `Bun ${Bun.version}`
  if (Deno !== undefined) return `Deno ${Deno.version.deno}`
  if (navigator?.userAgent === 'Cloudflare-Workers') return 'workerd'
  return `Node ${process.versions.node}`
}
