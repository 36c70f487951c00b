// The steps that every runtime must pass, with the installed package. The suite runs inside the runtime, without mocha.
import assert from 'node:assert/strict'
import {
  connect,
  supervise,
  ZooKeeperError,
  type Client,
  type CommonOptions,
  type ErrorCode,
  type SessionTask,
  type State,
  type WatchEvent,
} from '../../src/index.ts'
import { constants, explain, operations, paths, records } from '../../src/protocol/entry.ts'
import { RecipeError, Mutex, ReentrantMutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/index.ts'

/** The suite's input, passed as JSON. */
export interface SuiteInput {
  /** A connect string with a separate chroot for each run. */
  servers: string
  /** A GET of this URL resets all connections to these servers. */
  resetUrl: string
  /** A TLS server with a certificate of `ca`, and servers with untrusted certificates. */
  secure: { servers: string; ca: string; impostors: string[] }
}

type Connect = (servers: string, options: CommonOptions) => Promise<Client>

/** How the suite opens sessions. */
export interface SuiteOptions {
  /** Default: connect() of `zkwire`. */
  connect?: Connect
  /** Opens a session over TLS. Default: connect() of `zkwire`, with the CA of the suite's input. */
  connectTls?: Connect
  /** Default: supervise() of `zkwire`. */
  supervise?: <T>(servers: string, options: CommonOptions, task: SessionTask<T>) => Promise<T>
  /** The error code for an untrusted certificate. Default PROTOCOL. */
  untrustedCode?: ErrorCode
}

export interface SuiteResult {
  runtime: string
  /** The result of each step, keyed by its name: null if it passed, otherwise the error's stack. */
  failures: Record<string, string | null>
}

type Open = (options?: CommonOptions, servers?: string, connect?: Connect) => Promise<Client>
type Step = (open: Open, input: SuiteInput, options: SuiteOptions) => Promise<void>

const CONTENDERS = 5
const ROUNDS = 3
const SESSION_TIMEOUT = 2000
const STEP_DEADLINE = 15_000

const anyServerSteps: Readonly<Record<string, Step>> = {
  async 'opens a session and preserves its 64-bit id'(open) {
    const zk = await open()
    assert.equal(zk.state, 'connected')
    assert.equal(typeof zk.sessionId, 'bigint')
    assert.ok(zk.sessionId > 2n ** 53n, 'an id larger than a safe integer')
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

  async 'writes and reads a value of 900,000 bytes'(open) {
    const zk = await open()
    const large = new Uint8Array(900_000).map((_, i) => (i * 31) % 251)
    await zk.create('/large', large, { mode: 'ephemeral' })
    const { data } = await zk.getData('/large')
    assert.ok(data?.equals(large))
  },

  async 'notifies a watch and a watcher of changes'(open) {
    const [zk, other] = [await open(), await open()]
    const event = nextValue<WatchEvent>()
    assert.equal(await zk.exists('/watched', { watch: event.resolve }), null)
    const watcher = await zk.addWatch('/watched', { recursive: true })
    await other.create('/watched', 'one')
    await other.create('/watched/below', 'two')
    assert.equal((await event.promise).type, 'NodeCreated')
    const events: string[] = []
    for await (const { type, path } of watcher) {
      events.push(`${type} ${path}`)
      if (events.length === 2) break
    }
    assert.deepEqual(events, ['NodeCreated /watched', 'NodeCreated /watched/below'])
  },

  async 'grants a lock to one contender at a time and loses no update'(open) {
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
      'fencing tokens increase',
    )
    assert.deepEqual((await clients[0]?.getChildren('/locks/counter'))?.children, [], 'nothing is left in the queue')
  },

  async 'stops waiting for a lock on a timeout and on an abort signal'(open) {
    const [zk, other] = [await open(), await open()]
    const held = await new Mutex(zk, '/locks/taken').acquire()
    const mutex = new Mutex(other, '/locks/taken')
    assert.equal(await mutex.tryAcquire(), null)
    await assert.rejects(
      mutex.acquire({ timeout: 50 }),
      (error: unknown) => error instanceof RecipeError && error.code === 'TIMEOUT',
    )
    const cancellation = new AbortController()
    const acquiring = mutex.acquire({ signal: cancellation.signal })
    cancellation.abort(new Error('cancelled'))
    await assert.rejects(acquiring, { message: 'cancelled' })
    await other.settled()
    assert.equal((await mutex.contenders()).length, 1)
    await held.release()
  },

  async 'lets only the async context that holds a reentrant lock acquire it again'(open) {
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

  async 'reports the expiry of its session and the loss of its lock'(open) {
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

  async 'removes its ephemeral nodes when it closes'(open) {
    const [zk, other] = [await open(), await open()]
    await zk.create('/gone', '', { mode: 'ephemeral' })
    await zk.close()
    assert.equal(zk.state, 'closed')
    assert.equal(await other.exists('/gone'), null)
    await assert.rejects(zk.exists('/'), { code: 'CLOSED', fate: 'notSent' })
  },
}

const realServerSteps: Readonly<Record<string, Step>> = {
  async 'keeps session, lock and watch after a connection loss'(open, { resetUrl }) {
    const [zk, other] = [await open(), await open()]
    const held = await new Mutex(zk, '/locks/kept').acquire()
    const event = nextValue<WatchEvent>()
    await zk.exists('/later', { watch: event.resolve })
    const { sessionId } = zk
    const reconnected = whenState(zk, 'connected')
    await fetch(resetUrl)
    await reconnected
    assert.equal(zk.sessionId, sessionId)
    assert.equal(held.signal.aborted, false)
    await other.retry(() => other.create('/later'))
    assert.equal((await event.promise).type, 'NodeCreated')
    await held.release()
  },

  async 'keeps an idle session alive by pings for longer than its timeout'(open) {
    const zk = await open()
    await zk.create('/pinged', '', { mode: 'ephemeral' })
    await new Promise(resolve => setTimeout(resolve, SESSION_TIMEOUT * 1.5))
    assert.equal((await zk.exists('/pinged'))?.ephemeralOwner, zk.sessionId)
    assert.equal(zk.stats.disconnects, 0)
  },

  async 'reports why no server is reachable'(open) {
    // No process listens on port 1: its service, tcpmux, is obsolete (RFC 1078).
    await assert.rejects(open({ connectTimeout: 500 }, '127.0.0.1:1'), ({ code, cause }: ZooKeeperError) => {
      assert.equal(code, 'CONNECTTIMEOUT')
      assert.equal((cause as ZooKeeperError).code, 'NOSERVER')
      assert.ok((cause as Error).cause instanceof Error, 'the runtime’s own error is the cause')
      return true
    })
  },

  async 'connects over TLS to a trusted server, and to no untrusted one'(open, { secure }, given) {
    const withCa: Connect = (servers, options) => connect(servers, { ...options, tls: { ca: secure.ca } })
    const connectTls = given.connectTls ?? withCa
    const zk = await open({}, secure.servers, connectTls)
    assert.notEqual(await zk.exists('/zookeeper'), null)
    for (const impostor of secure.impostors)
      await assert.rejects(open({ connectTimeout: 1000 }, impostor, connectTls), {
        code: given.untrustedCode ?? 'PROTOCOL',
      })
  },

  async 'runs a supervised task again in a new session after the first session has expired'(open, { servers }, given) {
    const ids: bigint[] = []
    const run = given.supervise ?? supervise
    const result = await run(servers, { sessionTimeout: SESSION_TIMEOUT }, async (zk, signal) => {
      ids.push(zk.sessionId)
      if (ids.length === 2) return 'done'
      const ended = new Promise(resolve => signal.addEventListener('abort', resolve))
      const taker = await open({ session: { id: zk.sessionId, password: zk.sessionPassword } })
      await taker.close()
      await ended
      return 'the result of a lost session'
    })
    assert.equal(result, 'done')
    assert.notEqual(ids[0], ids[1])
  },
}

const offlineSteps: Readonly<Record<string, Step>> = {
  'encodes, decodes and explains with the namespaces of zkwire/protocol'() {
    const { request, opcode } = operations.getData
    assert.equal(opcode, constants.opcodes.getData)
    const header = records.RequestHeader.encode({ xid: 7, type: opcode })
    const body = { path: paths.join('/parent', 'child'), watch: true }
    const frame = Buffer.concat([header, request.encode(body)])
    assert.deepEqual(records.RequestHeader.decode(header), { xid: 7, type: opcode })
    assert.deepEqual(request.decode(frame.subarray(header.length)), body)
    assert.match(explain(frame, { from: 'client', first: false }).sentence, /getData.*\/parent\/child/)
    return Promise.resolve()
  },
}

/** The steps with an embedded server in the same runtime, without sockets. */
const embeddedServerSteps: Readonly<Record<string, Step>> = {
  ...Object.fromEntries(
    Object.entries(anyServerSteps).map(([name, step]): [string, Step] => [
      `with an embedded server: ${name}`,
      async (_open, ...rest) => {
        await using server = await Server.start({ listen: false })
        const { connectString, dial } = server
        await using group = new ClientGroup(connectString, (servers, options) => connect(servers, { ...options, dial }))
        await step(group.open, ...rest)
      },
    ]),
  ),

  async 'with an embedded server in virtual time: grants the lock to the next waiter when the holder’s session expires'() {
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

export const steps: Readonly<Record<string, Step>> = {
  ...anyServerSteps,
  ...realServerSteps,
  ...embeddedServerSteps,
  ...offlineSteps,
}

/** The steps for a runtime without sockets. A browser has no async contexts either. */
export const stepsWithoutSockets: Readonly<Record<string, Step>> = Object.fromEntries(
  Object.entries({ ...embeddedServerSteps, ...offlineSteps }).filter(([name]) => !name.includes('async context')),
)

/** Runs steps one after the other, and continues if a step fails. Closes everything that it opens. */
export async function run(input: SuiteInput, options: SuiteOptions = {}, chosen = steps): Promise<SuiteResult> {
  const failures: SuiteResult['failures'] = {}
  for (const [name, step] of Object.entries(chosen)) {
    await using group = new ClientGroup(input.servers, options.connect ?? connect)
    failures[name] = await withDeadline(step(group.open, input, options)).then(
      () => null,
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
  }
  return { runtime: runtimeName(), failures }
}

/** The clients of one step, closed together when the step is over. */
class ClientGroup {
  readonly #servers: string
  readonly #connect: Connect
  readonly #clients: Client[] = []

  constructor(servers: string, connect: Connect) {
    this.#servers = servers
    this.#connect = connect
  }

  readonly open: Open = async (options, servers = this.#servers, connect = this.#connect) => {
    const client = await connect(servers, { sessionTimeout: SESSION_TIMEOUT, ...options })
    this.#clients.push(client)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map(client => client.close()))
  }
}

/** Rejects after STEP_DEADLINE, so that a step that hangs does not block the others. */
async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the step did not finish within ${STEP_DEADLINE} ms`)), STEP_DEADLINE)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** A callback, and a promise of the first value that it is called with. */
function nextValue<T>(): { resolve: (value: T) => void; promise: Promise<T> } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>(resolvePromise => (resolve = resolvePromise))
  return { resolve, promise }
}

function whenState(zk: Client, wanted: State): Promise<void> {
  return new Promise(resolve => {
    zk.on('state', state => {
      if (state === wanted) resolve()
    })
  })
}

/** The runtime's name and version, as it reports them. */
function runtimeName(): string {
  const { Bun, Deno, navigator } = globalThis as {
    Bun?: { version: string }
    Deno?: { version: { deno: string } }
    navigator?: { userAgent: string }
  }
  if (Bun !== undefined) return `Bun ${Bun.version}`
  if (Deno !== undefined) return `Deno ${Deno.version.deno}`
  if (navigator?.userAgent === 'Cloudflare-Workers') return 'workerd'
  const [, chromium] = /Chrome\/([\d.]+)/.exec(navigator?.userAgent ?? '') ?? []
  if (chromium !== undefined) return `Chromium ${chromium}`
  return `Node ${process.versions.node}`
}
