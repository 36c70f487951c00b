// Subscribes to the channels, and hands their messages to the spans and the metrics.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import { badArguments } from '../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../options/checks.ts'
import type {
  CallMessage,
  ConnectMessage,
  DisconnectMessage,
  RequestMessage,
  StateMessage,
  WatchMessage,
} from '../client/index.ts'
import type { AcquireMessage, ReleaseMessage } from '../recipes/index.ts'
import { Metrics } from './metrics.ts'
import { Spans } from './spans.ts'

/**
 * Options of {@link instrument}.
 * @example
 * import { metrics } from '@opentelemetry/api'
 * const options: InstrumentOptions = { meterProvider: metrics.getMeterProvider() }
 * await using instrumentation = instrument(options)
 * typeof instrumentation.close // => 'function'
 */
export interface InstrumentOptions {
  /** Makes the spans. Default: the global one, `trace.getTracerProvider()`, as it is when `instrument` is called. */
  tracerProvider?: TracerProvider | undefined
  /** Makes the metrics. Default: the global one, `metrics.getMeterProvider()`, as it is when `instrument` is called. */
  meterProvider?: MeterProvider | undefined
}

/**
 * What {@link instrument} returns.
 * @example
 * const instrumentation: Instrumentation = instrument()
 * await instrumentation.close() // => undefined
 */
export interface Instrumentation extends AsyncDisposable {
  /** Ends the spans that are not ended, and makes no more. May be called again. Never rejects. */
  close(): Promise<void>
}

const provides = (method: string) => (value: unknown) =>
  typeof (value as Partial<Record<string, unknown>> | null)?.[method] === 'function'

const checks: Checks<InstrumentOptions> = {
  tracerProvider: mustBe('a TracerProvider', provides('getTracer')),
  meterProvider: mustBe('a MeterProvider', provides('getMeter')),
}

/** The name of the tracer and of the meter: the scope of what they make. */
const SCOPE = 'zkwire'

/**
 * Makes spans and metrics of OpenTelemetry for all clients and locks of this process, until it is closed. Call it once,
 * after the SDK is set up and before the first `connect()`: sessions that are older are not counted.
 * `docs/observability.md` lists the spans and the metrics.
 * @throws ZooKeeperError BADARGUMENTS if an option is invalid
 * @example
 * await using instrumentation = instrument()
 * // This call makes a span, and counts in the histogram db.client.operation.duration:
 * await zk.exists('/app') // => null
 */
export function instrument(options: InstrumentOptions = {}): Instrumentation {
  const problem = optionsProblem(options, checks)
  if (problem !== undefined) throw badArguments('instrument', '', problem)
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options
  const spans = new Spans(tracerProvider.getTracer(SCOPE))
  const meters = new Metrics(meterProvider.getMeter(SCOPE))
  /** The server of each session. */
  const servers = new Map<bigint, ConnectMessage['address']>()

  const unsubscribers = [
    on('connect', ({ sessionId, address }) => {
      servers.set(sessionId, address)
      meters.onConnect()
    }),
    on('disconnect', () => meters.onDisconnect()),
    on('state', ({ sessionId, state, previous }) => {
      meters.onState(state, previous)
      if (meters.isEnd(state)) servers.delete(sessionId)
    }),
    on('call', message => spans.onCall(message)),
    on('request', message => {
      const address = servers.get(message.sessionId)
      spans.onRequest(message, address)
      meters.onRequest(message, address)
    }),
    on('watch', message => meters.onWatch(message)),
    on('acquire', message => {
      spans.onAcquire(message)
      meters.onAcquire(message)
    }),
    on('release', message => {
      spans.onRelease(message)
      meters.onRelease(message)
    }),
  ]

  const close = (): Promise<void> => {
    for (const end of unsubscribers.splice(0)) end()
    spans.close()
    meters.close()
    return Promise.resolve()
  }
  return { close, [Symbol.asyncDispose]: close }
}

/** The message of each channel, without the prefix of their names. */
interface Messages {
  connect: ConnectMessage
  disconnect: DisconnectMessage
  state: StateMessage
  call: CallMessage
  request: RequestMessage
  watch: WatchMessage
  acquire: AcquireMessage
  release: ReleaseMessage
}

/** Subscribes to a channel, and returns a function that ends the subscription. */
function on<C extends keyof Messages>(channel: C, listener: (message: Messages[C]) => void): () => void {
  const onMessage = (message: unknown) => listener(message as Messages[C])
  subscribe(`zkwire:${channel}`, onMessage)
  return () => void unsubscribe(`zkwire:${channel}`, onMessage)
}
