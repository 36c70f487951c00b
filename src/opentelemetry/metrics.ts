// The metrics. Durations are in seconds, as OpenTelemetry asks.
import type { Histogram, Meter, ObservableResult } from '@opentelemetry/api'
import { eventTypes } from '../protocol/index.ts'
import type { ConnectMessage, RequestMessage, StateMessage, WatchMessage } from '../client/index.ts'
import type { AcquireMessage, ReleaseMessage } from '../recipes/index.ts'
import { acquireAttributes, callAttributes, outcomeAttributes, releaseAttributes } from './attributes.ts'

type State = StateMessage['state']

/** In seconds: the bounds that the semantic conventions name for db.client.operation.duration. */
const CALL_BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
/** In seconds. A lock may be waited for, and held, for a day. */
const LOCK_BOUNDS = [0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 300, 1800, 3600, 86_400]

const watchTypes = new Map<number, string>(Object.entries(eventTypes).map(([name, type]) => [type, name]))

export class Metrics {
  readonly #connects
  readonly #disconnects
  readonly #changes
  readonly #events
  readonly #lost
  readonly #calls: Histogram
  readonly #waits: Histogram
  readonly #holds: Histogram
  readonly #sessions
  readonly #leases
  /** How many sessions are in each state that is not the end. */
  readonly #states = new Map<State, number>()
  /** The locks that are held, and their paths. */
  readonly #held = new Map<AcquireMessage['held'] & object, string>()
  /** The paths of the locks that were held at the last observation. */
  #observed: readonly string[] = []

  constructor(meter: Meter) {
    this.#connects = meter.createCounter('zkwire.connects', {
      description: 'Connections on which a server accepted the session',
    })
    this.#disconnects = meter.createCounter('zkwire.disconnects', {
      description: 'Lost connections and failed attempts to connect',
    })
    this.#changes = meter.createCounter('zkwire.session.changes', { description: 'Changes of sessions to a state' })
    this.#events = meter.createCounter('zkwire.watch.events', { description: 'Watch events that servers sent' })
    this.#lost = meter.createCounter('zkwire.lock.losses', { description: 'Locks that were lost while they were held' })
    const histogram = (name: string, description: string, explicitBucketBoundaries: number[]) =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } })
    this.#calls = histogram('db.client.operation.duration', 'Time from a call until it was settled', CALL_BOUNDS)
    this.#waits = histogram('zkwire.lock.wait.duration', 'Time of an attempt to acquire a lock', LOCK_BOUNDS)
    this.#holds = histogram('zkwire.lock.hold.duration', 'Time for which a lock was held', LOCK_BOUNDS)
    this.#sessions = meter.createObservableGauge('zkwire.sessions', { description: 'Sessions in each state' })
    this.#leases = meter.createObservableGauge('zkwire.lock.lease.left', {
      description: 'For how much longer no other client can have the lock; 0 after it was held',
      unit: 's',
    })
    this.#sessions.addCallback(this.#observeSessions)
    this.#leases.addCallback(this.#observeLeases)
  }

  onConnect(): void {
    this.#connects.add(1)
  }

  onDisconnect(): void {
    this.#disconnects.add(1)
  }

  onState(state: State, previous: State): void {
    this.#changes.add(1, { 'zkwire.session.state': state })
    // Nothing is published when a session begins, so sessions that connect for the first time are not counted.
    const before = this.#states.get(previous) ?? 0
    if (before > 0) this.#states.set(previous, before - 1)
    if (!this.isEnd(state)) this.#states.set(state, (this.#states.get(state) ?? 0) + 1)
  }

  /** Returns true for a state after which no other follows. */
  isEnd(state: State): boolean {
    return state === 'expired' || state === 'closed' || state === 'authFailed'
  }

  onRequest(message: RequestMessage, address: ConnectMessage['address'] | undefined): void {
    const attributes = { ...callAttributes(message.op), ...outcomeAttributes(message, address) }
    this.#calls.record(message.ms / 1000, attributes)
  }

  onWatch({ type }: WatchMessage): void {
    // A server can send any number, and each value of an attribute makes a time series.
    this.#events.add(1, { 'zkwire.watch.type': watchTypes.get(type) ?? '_OTHER' })
  }

  onAcquire(message: AcquireMessage): void {
    const { held, lock, ms } = message
    this.#waits.record(ms / 1000, acquireAttributes(message))
    // A lock that is lost already has had its message.
    if (held !== null && !held.signal.aborted) this.#held.set(held, lock)
  }

  onRelease(message: ReleaseMessage): void {
    const attributes = releaseAttributes(message)
    if (message.error !== undefined) this.#lost.add(1, attributes)
    this.#holds.record(message.ms / 1000, attributes)
    this.#held.delete(message.held)
  }

  close(): void {
    this.#sessions.removeCallback(this.#observeSessions)
    this.#leases.removeCallback(this.#observeLeases)
  }

  readonly #observeSessions = (result: ObservableResult): void => {
    for (const [state, count] of this.#states) result.observe(count, { 'zkwire.session.state': state })
  }

  readonly #observeLeases = (result: ObservableResult): void => {
    const left = new Map<string, number>()
    for (const [held, path] of this.#held) left.set(path, Math.min(left.get(path) ?? Infinity, held.validFor() / 1000))
    // The SDK repeats the last value of a path that is not observed, so a path is observed once more after its release.
    for (const path of new Set([...this.#observed, ...left.keys()]))
      result.observe(left.get(path) ?? 0, { 'zkwire.lock.path': path })
    this.#observed = [...left.keys()]
  }
}
