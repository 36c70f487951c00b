// The spans and metrics of zkwire/opentelemetry, with the SDKs of OpenTelemetry.
import { context, metrics, trace, SpanKind, SpanStatusCode, type Attributes } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { expect } from 'chai'
import { channel } from 'node:diagnostics_channel'
import { createServer, get } from 'node:http'
import { connect, ZooKeeperError, type Client } from '../../src/index.ts'
import { instrument, type Instrumentation, type InstrumentOptions } from '../../src/opentelemetry/index.ts'
import { LeaderElection, Mutex, ReadWriteLock, Semaphore } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { sharedServer } from '../support/shared-server.ts'
import { abortOf } from '../support/settled.ts'

/** The SDKs, with Prometheus' page on a port of loopback. */
class Telemetry implements AsyncDisposable {
  readonly instrumentation: Instrumentation
  readonly tracerProvider: BasicTracerProvider
  readonly #spans = new InMemorySpanExporter()
  readonly #prometheus = new PrometheusExporter({ preventServerStart: true })
  readonly #meterProvider = new MeterProvider({ readers: [this.#prometheus] })
  readonly #page = createServer((request, response) => this.#prometheus.getMetricsRequestHandler(request, response))

  constructor() {
    this.tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] })
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    this.instrumentation = instrument({ tracerProvider: this.tracerProvider, meterProvider: this.#meterProvider })
  }

  /** The ended spans of a name. */
  spans(name: string): ReadableSpan[] {
    return this.#spans.getFinishedSpans().filter(span => span.name === name)
  }

  /** Reads Prometheus' page over HTTP. Returns the values by series, without the labels of the SDK. */
  async scrape(): Promise<Map<string, number>> {
    if (!this.#page.listening) await new Promise<void>(resolve => this.#page.listen(0, '127.0.0.1', resolve))
    const { port } = this.#page.address() as { port: number }
    const text = await new Promise<string>((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent: false }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => resolve(body))
      }).on('error', reject)
    })
    const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    return new Map(
      lines.map(line => {
        const at = line.lastIndexOf(' ')
        const series = line.slice(0, at).replaceAll(/,?otel_scope_\w+="[^"]*"/g, '')
        return [series.replace('{,', '{').replace('{}', ''), Number(line.slice(at + 1))]
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.instrumentation.close()
    await this.#meterProvider.shutdown()
    if (this.#page.listening) await new Promise(resolve => this.#page.close(resolve))
    context.disable()
  }
}

const outcomeOf = ({ attributes, status }: ReadableSpan) => ({
  outcome: attributes['zkwire.lock.outcome'],
  error: attributes['error.type'],
  isError: status.code === SpanStatusCode.ERROR,
})

const secondsOf = ({ duration: [seconds, nanoseconds] }: ReadableSpan) => seconds + nanoseconds / 1e9

describe('instrument()', () => {
  let server: Server
  let zk: Client
  let other: Client
  let telemetry: Telemetry

  const open = async () => {
    ;[zk, other] = (await Promise.all([1, 2].map(() => connect(server.connectString, { dial: server.dial })))) as [
      Client,
      Client,
    ]
  }

  beforeEach(async () => {
    telemetry = new Telemetry()
    server = await Server.start({ listen: false })
    await open()
  })

  afterEach(async () => {
    await Promise.all([zk.close(), other.close()])
    await server.close()
    await telemetry[Symbol.asyncDispose]()
  })

  it('makes a span of kind CLIENT for each call, below the span of the caller', async () => {
    const tracer = telemetry.tracerProvider.getTracer('test')
    const caller = tracer.startSpan('caller')
    await context.with(trace.setSpan(context.active(), caller), async () => {
      await zk.create('/a')
      await zk.delete('/b').catch(() => undefined)
    })
    caller.end()
    const [create, remove] = [telemetry.spans('create')[0], telemetry.spans('delete')[0]]
    expect(create?.kind).to.equal(SpanKind.CLIENT)
    expect(create?.parentSpanContext?.spanId).to.equal(caller.spanContext().spanId)
    expect(create?.attributes).to.deep.equal({
      'db.system.name': 'zookeeper',
      'db.operation.name': 'create',
      'zkwire.path': '/a',
      'server.address': 'memory',
      'server.port': 2181,
    })
    expect(create?.status.code).to.equal(SpanStatusCode.UNSET)
    expect(remove?.attributes).to.include({ 'error.type': 'NONODE', 'zkwire.fate': 'refused' })
    expect(remove?.status.code).to.equal(SpanStatusCode.ERROR)
    expect(remove?.status.message).to.match(/^NONODE: delete \/b: /)
  })

  it('makes spans of the wait for a lock, of the hand-over and of the time for which the lock is held', async () => {
    const first = await new Mutex(zk, '/lock').acquire()
    const second = new Mutex(other, '/lock').acquire()
    while ((await new Mutex(zk, '/lock').contenders()).length < 2);
    await first.release()
    const held = await second
    expect(telemetry.spans('lock.hold')).to.have.length(1)
    await held.release()
    const [waitless, waited] = telemetry.spans('lock.acquire')
    expect([waitless, waited].map(span => span && outcomeOf(span).outcome)).to.deep.equal(['held', 'held'])
    const [handOver, ...more] = telemetry.spans('lock.handover')
    expect(more).to.deep.equal([])
    expect(handOver?.parentSpanContext?.spanId).to.equal(waited?.spanContext().spanId)
    expect(handOver && secondsOf(handOver)).to.be.at.most(waited ? secondsOf(waited) + 0.001 : 0)
    expect(telemetry.spans('lock.hold').map(({ attributes }) => attributes)).to.deep.equal(
      [first, held].map(({ path, token }) => ({
        'zkwire.lock.path': '/lock',
        'zkwire.lock.node': path,
        'zkwire.lock.token': String(token),
        'zkwire.lock.outcome': 'released',
      })),
    )
  })

  it('tells a taken lock from an attempt that failed', async () => {
    await using _held = await new Mutex(zk, '/lock').acquire()
    expect(await new Mutex(other, '/lock').tryAcquire()).to.equal(null)
    await new Mutex(other, '/lock').acquire({ timeout: 1 }).catch(() => undefined)
    await new Mutex(other, '/lock').acquire({ signal: AbortSignal.abort(new TypeError('no')) }).catch(() => undefined)
    expect(telemetry.spans('lock.acquire').slice(1).map(outcomeOf)).to.deep.equal([
      { outcome: 'taken', error: undefined, isError: false },
      { outcome: 'failed', error: 'TIMEOUT', isError: true },
      { outcome: 'failed', error: 'TypeError', isError: true },
    ])
  })

  it('counts sessions, connections, calls, events, and locks, as Prometheus reads them', async () => {
    await zk.create('/a')
    await zk.exists('/a', { watch: () => undefined })
    await zk.setData('/a', 'x')
    await zk.delete('/nothing').catch(() => undefined)
    const held = await new Mutex(zk, '/lock').acquire()
    const page = await telemetry.scrape()
    expect(page.get('zkwire_connects_total')).to.equal(2)
    expect(page.get('zkwire_sessions{zkwire_session_state="connected"}')).to.equal(2)
    expect(page.get('zkwire_session_changes_total{zkwire_session_state="connected"}')).to.equal(2)
    expect(page.get('zkwire_watch_events_total{zkwire_watch_type="NodeDataChanged"}')).to.equal(1)
    const calls = (op: string, error = '') =>
      [...page]
        .filter(([series]) => series.startsWith(`db_client_operation_duration_count{`))
        .filter(([series]) => series.includes(`db_operation_name="${op}"`) && series.includes(error))
        .map(([, count]) => count)
    expect(calls('setData')).to.deep.equal([1])
    expect(calls('delete', 'error_type="NONODE"')).to.deep.equal([1])
    const label = '{zkwire_lock_path="/lock"}'
    expect(page.get(`zkwire_lock_lease_left${label}`)).to.be.within(1, zk.sessionTimeout / 1000)
    await held.release()
    const later = await telemetry.scrape()
    expect(later.get(`zkwire_lock_lease_left${label}`)).to.equal(0)
    const released = '{zkwire_lock_path="/lock",zkwire_lock_outcome="released"}'
    expect(later.get(`zkwire_lock_hold_duration_count${released}`)).to.equal(1)
    const acquired = '{zkwire_lock_path="/lock",zkwire_lock_outcome="held"}'
    expect(later.get(`zkwire_lock_wait_duration_count${acquired}`)).to.equal(1)
  })

  it('tells why a lock was lost, and counts the loss and the end of the session once', async () => {
    const held = await new Mutex(zk, '/lock').acquire()
    const lost = abortOf(held.signal)
    server.dropConnections()
    server.expireSession(zk.sessionId)
    await lost
    await held.release().catch(() => undefined)
    const [hold] = telemetry.spans('lock.hold')
    expect(hold && outcomeOf(hold)).to.deep.equal({ outcome: 'lost', error: 'SESSIONEXPIRED', isError: true })
    await other.whenConnected()
    const page = await telemetry.scrape()
    const labels = '{zkwire_lock_path="/lock",zkwire_lock_outcome="lost",error_type="SESSIONEXPIRED"}'
    expect(page.get(`zkwire_lock_losses_total${labels}`)).to.equal(1)
    expect(page.get('zkwire_session_changes_total{zkwire_session_state="expired"}')).to.equal(1)
    expect(page.get('zkwire_sessions{zkwire_session_state="connected"}')).to.equal(1)
    expect(page.get('zkwire_disconnects_total')).to.be.at.least(2)
  })

  it('observes the lease of a lock while the lock is held, and once more: locks may have any number of paths', async () => {
    const locks = (page: Map<string, number>) =>
      [...page].filter(([series]) => series.startsWith('zkwire_lock_lease_left'))
    for (let i = 0; i < 3; i++) await new Mutex(zk, `/short-${i}`).use(() => undefined)
    expect(locks(await telemetry.scrape())).to.deep.equal([])
    const held = await new Mutex(zk, '/long').acquire()
    expect(locks(await telemetry.scrape())[0]?.[1]).to.be.above(0)
    await held.release()
    // The SDK goes on with the last value.
    for (let i = 0; i < 2; i++)
      expect(locks(await telemetry.scrape())).to.deep.equal([['zkwire_lock_lease_left{zkwire_lock_path="/long"}', 0]])
  })

  it('keeps nothing of locks that are released, and observes nothing of them a second time', async () => {
    const observed: unknown[] = []
    type Callback = (result: { observe: (value: number, attributes: Attributes) => void }) => void
    const callbacks: Callback[] = []
    const gauge = { addCallback: (callback: Callback) => callbacks.push(callback), removeCallback: () => undefined }
    const counter = { add: () => undefined, record: () => undefined }
    const meter = { createCounter: () => counter, createHistogram: () => counter, createObservableGauge: () => gauge }
    const observe = () => {
      const from = observed.length
      const result = {
        observe: (_value: number, attributes: Attributes) => observed.push(attributes['zkwire.lock.path']),
      }
      for (const callback of callbacks) callback(result)
      return observed.slice(from).filter(path => path !== undefined)
    }
    const meterProvider = { getMeter: () => meter } as unknown as InstrumentOptions['meterProvider']
    await using _instrumentation = instrument({ meterProvider })
    const held = await new Mutex(zk, '/a').acquire()
    expect(observe()).to.deep.equal(['/a'])
    await new Mutex(zk, '/b').use(() => undefined)
    await held.release()
    expect([observe(), observe()]).to.deep.equal([['/a'], []])
  })

  it('counts events of types that it does not know in one series', async () => {
    for (const type of [77, 78, -1000]) channel('zkwire:watch').publish({ sessionId: 1n, type, path: '/a' })
    const series = [...(await telemetry.scrape())].filter(([name]) => name.startsWith('zkwire_watch_events'))
    expect(series).to.deep.equal([['zkwire_watch_events_total{zkwire_watch_type="_OTHER"}', 3]])
  })

  it('follows the holders of a semaphore, a downgraded lock and a leader', async () => {
    await new Semaphore(zk, '/permits', 2).use(() => undefined)
    const writing = await new ReadWriteLock(zk, '/rw').writeLock.acquire()
    await (await writing.downgrade()).release()
    await (await new LeaderElection(zk, '/election').campaign()).release()
    await zk.settled()
    const methods = telemetry.spans('lock.acquire').map(({ attributes }) => {
      const { 'zkwire.lock.path': path, 'zkwire.lock.method': method } = attributes
      return `${String(method)} ${String(path)}`
    })
    expect(methods).to.deep.equal([
      ...['acquire /permits/locks', 'acquire /permits', 'acquire /rw', 'downgrade /rw', 'campaign /election'],
    ])
    expect(telemetry.spans('lock.hold')).to.have.length(methods.length)
    expect(telemetry.spans('lock.hold').every(span => outcomeOf(span).outcome === 'released')).to.equal(true)
  })

  it('ends open spans when it is closed, and makes no more', async () => {
    const held = await new Mutex(zk, '/lock').acquire()
    expect(telemetry.spans('lock.hold')).to.have.length(0)
    await telemetry.instrumentation.close()
    await telemetry.instrumentation.close()
    expect(telemetry.spans('lock.hold')).to.have.length(1)
    const before = telemetry.spans('exists').length
    await zk.exists('/')
    await held.release()
    expect(telemetry.spans('exists')).to.have.length(before)
    expect(telemetry.spans('lock.hold')).to.have.length(1)
  })

  it('uses the global providers by default, and refuses options that are none', async () => {
    metrics.disable()
    trace.setGlobalTracerProvider(telemetry.tracerProvider)
    await telemetry.instrumentation.close()
    await using _instrumentation = instrument()
    await zk.exists('/')
    trace.disable()
    expect(telemetry.spans('exists')).to.have.length(1)
    for (const wrong of [{ tracer: 1 }, { tracerProvider: {} }, { meterProvider: null }] as object[])
      expect(() => instrument(wrong)).to.throw(ZooKeeperError, /^BADARGUMENTS: instrument: /)
  })
})

describe('instrument() on Apache ZooKeeper', () => {
  it('makes spans of calls and of a lock, and counts them for Prometheus', async () => {
    await using telemetry = new Telemetry()
    const server = await sharedServer()
    await using zk = await connect(server.connectString)
    await new Mutex(zk, '/instrumented').use(() => zk.exists('/instrumented'))
    expect(telemetry.spans('exists').length).to.be.above(0)
    expect(telemetry.spans('exists')[0]?.attributes).to.include({ 'server.port': server.port })
    expect(telemetry.spans('lock.hold').map(outcomeOf)).to.deep.equal([
      { outcome: 'released', error: undefined, isError: false },
    ])
    const page = await telemetry.scrape()
    expect(page.get('zkwire_connects_total')).to.equal(1)
    expect([...page.keys()].some(series => series.includes('db_operation_name="create"'))).to.equal(true)
  })
})
