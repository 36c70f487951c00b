// The numbers that the declarations of options document as defaults: what happens without the option, and what happens with
// one millisecond, byte, event or error more or less.
import { expect } from 'chai'
import { connect, Sessions, type Client, type ConnectOptions, type Dial } from '../../src/index.ts'
import { Counter, Mutex, Queue, Services, type ServiceProvider } from '../../src/recipes/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { settle, VirtualClock } from '../../src/testing/virtual-clock.ts'
import { readDocument } from '../support/document.ts'
import { ScriptedServer } from '../support/scripted-server.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { Stage, started, type Scene } from '../recipes/public-calls.ts'
import { turns } from '../support/turns.ts'

/** A host that accepts connections and never says a word. */
const silent: Dial = () => ({ write: () => undefined, destroy: () => undefined })

/** Expects that a promise settles exactly so many milliseconds after now. Resolves with its value or error. */
async function settlesAfter(clock: VirtualClock, ms: number, promise: Promise<unknown>): Promise<unknown> {
  const [outcome, isSettled] = [outcomeOf(promise), trackSettled(promise)]
  await clock.advance(ms - 1)
  expect(isSettled(), `settled after ${ms - 1} ms`).to.equal(false)
  await clock.advance(1)
  expect(isSettled(), `settled after ${ms} ms`).to.equal(true)
  return outcome
}

async function onServer(
  options: ServerOptions,
  run: (server: Server, clock: VirtualClock, open: (own?: ConnectOptions) => Promise<Client>) => Promise<unknown>,
) {
  await using virtual = await VirtualServer.start(options)
  await run(virtual.server, virtual.clock, own => virtual.open(own))
}

/** Expects the session timeouts that a server with ticks of 500 ms gives to clients that ask for others. */
const timeoutsAre = (expected: readonly (readonly [asked: number, given: number])[]) =>
  onServer({ tickTime: 500 }, async (_server, _clock, open) => {
    for (const [asked, given] of expected)
      expect((await open({ sessionTimeout: asked })).sessionTimeout).to.equal(given)
  })

interface Default {
  /** The file that declares the option. */
  file: string
  /** What the declaration says. */
  says: RegExp
  shows: () => Promise<unknown>
}

const clientFile = 'src/client/options.ts'
const serverFile = 'src/server/control/options.ts'

const unanswered = (options: ConnectOptions = {}) => {
  const clock = new VirtualClock()
  return { clock, calling: connect('silent', { dial: silent, clock, random: () => 0, ...options }) }
}

const defaults: Readonly<Record<string, Default>> = {
  sessionTimeout: {
    file: clientFile,
    says: /Default 30 000\./,
    shows: () => onServer({}, async (_server, _clock, open) => expect((await open()).sessionTimeout).to.equal(30_000)),
  },
  connectTimeout: {
    file: clientFile,
    says: /Default: the session timeout/,
    async shows() {
      for (const sessionTimeout of [undefined, 8000]) {
        const { clock, calling } = unanswered({ sessionTimeout })
        const error = await settlesAfter(clock, sessionTimeout ?? 30_000, calling)
        expect(error).to.have.property('code', 'CONNECTTIMEOUT')
      }
    },
  },
  attemptTimeout: {
    file: clientFile,
    says: /Default: half of the session timeout, .* divided by the number of hosts, and at most 1 000\./,
    async shows() {
      for (const [hosts, sessionTimeout, first] of [
        ['a', 30_000, 1000],
        ['a,b', 12_000, 1000],
        ['a,b', 3000, 750],
        ['a,b,c', 3000, 500],
      ] as const) {
        const clock = new VirtualClock()
        const times: number[] = []
        const dial: Dial = () => (times.push(clock.now()), { write: () => undefined, destroy: () => undefined })
        const stop = new AbortController()
        const calling = outcomeOf(connect(hosts, { dial, clock, random: () => 0, sessionTimeout, signal: stop.signal }))
        const begin = clock.now()
        await clock.advance(first - 1)
        expect(times, `${hosts} ${sessionTimeout}`).to.deep.equal([begin])
        // The pause before the next attempt.
        await clock.advance(1 + 50)
        expect(times.length, `${hosts} ${sessionTimeout}`).to.equal(2)
        stop.abort()
        await calling
      }
    },
  },
  maxRequestBytes: {
    file: clientFile,
    says: /Default 1 048 575\./,
    shows: () =>
      onServer({ maxRequestBytes: 2_000_000 }, async (_server, clock, open) => {
        let sent = 0
        const client = await open({
          onFrame: ({ from, bytes }) => {
            if (from === 'client') sent = Math.max(sent, bytes.length)
          },
        })
        const write = (length: number) => clock.until(client.setData('/', Buffer.alloc(length)))
        await write(1000)
        const most = 1_048_575 - (sent - 1000)
        await write(most)
        expect(sent).to.equal(1_048_575)
        expect(await failureOf(write(most + 1))).to.have.property('code', 'REQUESTTOOLARGE')
      }),
  },
  maxReplyBytes: {
    file: clientFile,
    says: /Default 16 777 216 /,
    async shows() {
      for (const [length, isDropped] of [
        [16_777_216, false],
        [16_777_217, true],
      ] as const) {
        const [clock, server] = [new VirtualClock(), new ScriptedServer()]
        const calling = connect('a', { dial: server.dial, clock, random: () => 0 })
        const connection = await server.next()
        connection.open()
        connection.handshake({ sessionId: 1n })
        const client = await calling
        const reading = outcomeOf(client.getData('/a'))
        const { xid } = await connection.next()
        const begin = Buffer.alloc(20)
        begin.writeInt32BE(length, 0)
        begin.writeInt32BE(xid, 4)
        connection.send(begin)
        await settle()
        expect(connection.dropped, `${length}`).to.equal(isDropped)
        const closing = client.close()
        await clock.advance(2000)
        await Promise.all([closing, reading])
      }
    },
  },
  maxPending: {
    file: clientFile,
    says: /Default 100 000\./,
    async shows() {
      const [clock, server] = [new VirtualClock(), new ScriptedServer()]
      const calling = connect('a', { dial: server.dial, clock, random: () => 0 })
      const connection = await server.next()
      connection.open()
      connection.handshake({ sessionId: 1n })
      const client = await calling
      connection.close()
      const calls = Array.from({ length: 100_000 }, () => outcomeOf(client.exists('/')))
      expect(await failureOf(client.exists('/'))).to.have.property('code', 'TOOMANYPENDING')
      const closing = client.close()
      await clock.advance(2000)
      const [first, last] = [await calls[0], await calls.at(-1)]
      expect([first, last].map(error => (error as { code: string }).code)).to.deep.equal(['CLOSED', 'CLOSED'])
      await closing
    },
  },
  capacity: {
    file: 'src/client/client.ts',
    says: /Default 1000\./,
    shows: () =>
      onServer({}, async (_server, clock, open) => {
        const client = await open()
        for (const events of [1000, 1001]) {
          const watcher = await clock.until(client.addWatch('/'))
          const writes = Array.from({ length: events }, () => client.setData('/', 'x'))
          await clock.until(Promise.all(writes))
          const { value } = await watcher.next()
          expect((value as { type: string }).type).to.equal(events > 1000 ? 'resync' : 'NodeDataChanged')
          await clock.until(watcher.close())
        }
      }),
  },
  srvRefreshInterval: {
    file: 'src/client/node.ts',
    says: /Default 60 000\./,
    shows: () =>
      onServer({}, async (server, clock, open) => {
        let lookups = 0
        const resolveSrv = () => Promise.resolve([{ name: `host-${Math.min(1, ++lookups)}`, port: 2181 }])
        const options = { dial: server.dial, clock, random: () => 0.5, resolveSrv }
        await open()
        const client = await clock.until(connect('dns-srv://_zookeeper._tcp.example.org', options))
        expect(lookups).to.equal(1)
        await clock.advance(59_900)
        expect(lookups).to.equal(1)
        await clock.advance(200)
        expect(lookups).to.equal(2)
        await clock.until(client.close())
      }),
  },
  timeout: {
    file: 'src/client/sessions-options.ts',
    says: /Default 5 000\./,
    async shows() {
      const clock = new VirtualClock()
      const sessions = new Sessions('silent', { dial: silent, clock, random: () => 0 })
      for (const call of [
        () => sessions.use({}, () => undefined),
        () =>
          sessions.withLock(
            client => new Mutex(client, '/recipe'),
            {},
            () => undefined,
          ),
        () => sessions.whenReady(),
      ])
        expect(await settlesAfter(clock, 5000, call()))
          .to.have.property('name')
          .that.matches(/Error$/)
      const closing = sessions.close()
      await clock.until(closing)
    },
  },
  priority: {
    file: 'src/recipes/data/queue-options.ts',
    says: /Default: 100, /,
    shows: () =>
      onStage(async ({ client, closeLater }) => {
        const queue = closeLater(new Queue(client, '/recipe'))
        await queue.put('default')
        await queue.put('before', { priority: 99 })
        await queue.put('after', { priority: 101 })
        for (const data of ['before', 'default', 'after']) {
          const item = await queue.take()
          expect(String(item.data)).to.equal(data)
          await item.complete()
        }
      }),
  },
  concurrency: {
    file: 'src/recipes/data/queue-options.ts',
    says: /Default: 1\./,
    shows: () =>
      onStage(async ({ client, closeLater }) => {
        const queue = closeLater(new Queue(client, '/recipe'))
        await queue.putMany(['a', 'b', 'c'])
        const stop = new AbortController()
        let [running, most, count] = [0, 0, 0]
        await queue.consume(
          async () => {
            most = Math.max(most, ++running)
            await turns()
            running--
            if (++count === 3) stop.abort()
          },
          { signal: stop.signal },
        )
        expect(most).to.equal(1)
      }),
  },
  errorThreshold: {
    file: 'src/recipes/members/service-provider.ts',
    says: /Default 2, /,
    shows: () =>
      onProvider(provider => {
        const downs = [0, 1, 2].map(errors => {
          if (errors > 0) provider.noteError({ id: 'a' })
          return provider.isDown('a')
        })
        expect(downs).to.deep.equal([false, false, true])
      }),
  },
  downTime: {
    file: 'src/recipes/members/service-provider.ts',
    says: /Default 30 000\./,
    shows: () =>
      onProvider(async (provider, clock) => {
        for (let i = 0; i < 2; i++) provider.noteError({ id: 'a' })
        await clock.advance(29_999)
        expect(provider.isDown('a')).to.equal(true)
        await clock.advance(1)
        expect(provider.isDown('a')).to.equal(false)
      }),
  },
  format: {
    file: 'src/recipes/data/counter.ts',
    says: /Default: 'int64'\./,
    shows: () =>
      onStage(async ({ client }) => {
        await new Counter(client, '/recipe').increment()
        const { data } = await client.getData('/recipe')
        expect(data?.toString('hex')).to.equal('0000000000000001')
      }),
  },
  tickTime: {
    file: serverFile,
    says: /Default 2 000\./,
    shows: () =>
      onServer({ minSessionTimeout: 1 }, async (server, clock, open) => {
        const { sessionId } = await open({ sessionTimeout: 3000 })
        const begin = clock.now()
        for (const kind of ['ping', 'connect', 'sync'] as const) server.faults.ignore(kind, { times: Infinity })
        const isThere = () => server.snapshot().sessions.some(({ id }) => id === sessionId)
        while (isThere()) await clock.advance(1)
        // The session has been silent for at least its timeout at the first tick at which it expires.
        expect(clock.now() - begin).to.be.within(3000, 3000 + 2 * 2000)
        expect(clock.now() % 2000).to.equal(0)
      }),
  },
  minSessionTimeout: {
    file: serverFile,
    says: /Default: two ticks\./,
    shows: () =>
      timeoutsAre([
        [999, 1000],
        [1001, 1001],
      ]),
  },
  maxSessionTimeout: {
    file: serverFile,
    says: /Default: twenty ticks\./,
    shows: () =>
      timeoutsAre([
        [10_001, 10_000],
        [9999, 9999],
      ]),
  },
  containerCheckInterval: {
    file: serverFile,
    says: /Default 60 000\./,
    shows: () =>
      onServer({}, async (server, clock, open) => {
        const client = await open()
        const begin = clock.now()
        await clock.until(client.create('/c', '', { mode: 'container' }))
        await clock.until(client.create('/c/a'))
        await clock.until(client.delete('/c/a'))
        await clock.advance(59_000 - (clock.now() - begin))
        expect(server.snapshot().nodes.has('/c')).to.equal(true)
        await clock.advance(61_000)
        expect(server.snapshot().nodes.has('/c')).to.equal(false)
      }),
  },
}

/** Runs a scene of a recipe. */
async function onStage(run: (scene: Scene, clock: VirtualClock) => Promise<unknown>): Promise<void> {
  const stage = await Stage.open()
  await stage.clock.until(run(stage.scene, stage.clock))
  await stage.close()
}

async function onProvider(run: (provider: ServiceProvider, clock: VirtualClock) => unknown): Promise<void> {
  const stage = await Stage.open()
  const { clock, scene } = stage
  const services = await clock.until(started(scene.closeLater(new Services('/recipe')), scene.client))
  await clock.until(services.register({ name: 'api', id: 'a' }))
  await run(await clock.until(services.provider('api')), clock)
  await stage.close()
}

describe('without the option', () => {
  for (const [option, { file, says, shows }] of Object.entries(defaults)) {
    it(`${option}, its documented default is used`, shows)

    it(`${option}, ${file} documents that default`, () => {
      const declaration = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s+${option}\\?:`)
      const [, text = ''] = declaration.exec(readDocument(file)) ?? []
      expect(text.replaceAll(/\s*\n\s*\*\s*/g, ' ')).to.match(says)
    })
  }
})
