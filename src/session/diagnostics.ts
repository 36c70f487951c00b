// Counters, channels of node:diagnostics_channel and lines of a debug log, for observers outside this package. The
// channels of the locks are in recipes/locks/acquiring.ts.
import type { Clock } from '../runtime/clock.ts'
import { hostPortOf } from '../runtime/host-port.ts'
import { channel } from 'node:diagnostics_channel'
import { hex64, ZooKeeperError, type TypeOf, type WatcherEvent } from '../protocol/index.ts'
import type { Address } from '../transport/transport.ts'
import type { Request } from './requests/request.ts'
import type { State } from './life/states.ts'

/** Writes one line to a debug log. Lines contain no secrets. */
export type DebugLog = (line: string) => void

const channels = {
  connect: channel('zkwire:connect'),
  disconnect: channel('zkwire:disconnect'),
  state: channel('zkwire:state'),
  call: channel('zkwire:call'),
  request: channel('zkwire:request'),
  watch: channel('zkwire:watch'),
}

/**
 * Published on `zkwire:connect` when a server has accepted the session.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * subscribe('zkwire:connect', message => {
 *   const { readOnly } = message as ConnectMessage
 *   readOnly // => false
 * })
 * server.dropConnections()
 * await zk.whenConnected()
 */
export interface ConnectMessage {
  /** The server that has accepted the session. */
  address: Address
  /** The session, as {@link Client.sessionId} gives it. */
  sessionId: bigint
  /** True if the server has lost its ensemble and serves reads only. */
  readOnly: boolean
}
/**
 * Published on `zkwire:disconnect` when a connection was lost, or an attempt to connect has failed.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * subscribe('zkwire:disconnect', message => {
 *   const { cause } = message as DisconnectMessage
 *   cause.name // => 'ZooKeeperError'
 * })
 * server.dropConnections()
 * await zk.whenConnected()
 */
export interface DisconnectMessage {
  /** The session, which can still be alive; 0 if there is none yet. */
  sessionId: bigint
  /** Why the connection ended. */
  cause: Error
}
/**
 * Published on `zkwire:state` when the state has changed. The end of the session is such a change too.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * const states: string[] = []
 * subscribe('zkwire:state', message => states.push((message as StateMessage).state))
 * server.dropConnections()
 * await new Promise(resolve => zk.on('state', resolve))
 * states // => ['suspended']
 */
export interface StateMessage {
  /** The session; 0 if there is none yet. */
  sessionId: bigint
  /** The new state. */
  state: State
  /** The state before. */
  previous: State
}
/**
 * Published on `zkwire:call` when a method of the client sends or queues a request, in the async context of the caller.
 * When the call is settled, the same object is published on `zkwire:request`. If that channel has no subscriber, neither
 * is published.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * const calls: string[] = []
 * subscribe('zkwire:call', message => calls.push((message as CallMessage).path))
 * subscribe('zkwire:request', () => calls.push('settled'))
 * await zk.exists('/app')
 * calls // => ['/app', 'settled']
 */
export interface CallMessage {
  /** The session that sends the request; 0 on `zkwire:call` if there is none yet. */
  sessionId: bigint
  /** The method of the client, for example `getData`. */
  op: string
  /** The path as the caller gave it, or several, separated by spaces; empty if the request has none. */
  path: string
}
/**
 * Published on `zkwire:request` when a call of the client is settled: when its server has replied, its connection was
 * lost, its signal has aborted, or the client has refused it. What the client sends for itself, such as pings, is not
 * published.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * const requests: string[] = []
 * subscribe('zkwire:request', message => {
 *   const { op, errno } = message as RequestMessage
 *   requests.push(`${op} ${errno}`)
 * })
 * await zk.exists('/app')
 * await zk.delete('/app').catch(() => undefined)
 * requests // => ['exists 0', 'delete -101']
 */
export interface RequestMessage extends CallMessage {
  /** The number of the request in its session, as in the frames; 0 if the request was not sent. */
  xid: number
  /** What the call rejects with: usually a ZooKeeperError, after an abort the signal's reason. Undefined if it resolves. */
  error: unknown
  /** The error number of a ZooKeeperError; 0 if the call resolves, and for errors that servers do not send. */
  errno: number
  /** Milliseconds from the call until it was settled, including the time in the queue. */
  ms: number
}
/**
 * Published on `zkwire:watch` when a server has sent an event, even if no watch of this client waits for it any more.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * subscribe('zkwire:watch', message => {
 *   const { path } = message as WatchMessage
 *   path // => '/app'
 * })
 * await zk.exists('/app', { watch: () => undefined })
 * await zk.create('/app')
 */
export interface WatchMessage {
  /** The session that the event was sent to. */
  sessionId: bigint
  /** The event type (Watcher.Event.EventType): 1 created, 2 deleted, 3 data changed, 4 children changed. */
  type: number
  /** The node, as the server knows it. */
  path: string | null
}

/**
 * Counters of one session, since it began.
 * @example
 * await zk.exists('/app')
 * const { connects, replies }: SessionStats = zk.stats
 * connects // => 1
 * replies // => 1
 */
export interface SessionStats {
  /** The number of connections on which a server accepted the session. */
  connects: number
  /** The number of lost connections and failed attempts to connect. */
  disconnects: number
  /** The number of replies to requests, including error replies. */
  replies: number
  /** The number of watch events that servers sent. */
  events: number
}

export interface DiagnosticsSettings {
  clock: Clock
  debugLog: DebugLog | undefined
}

export class Diagnostics {
  readonly #session: { readonly id: bigint }
  readonly #settings: DiagnosticsSettings
  #connects = 0
  #disconnects = 0
  #replies = 0
  #events = 0

  /** @param session its id changes when a server creates the session */
  constructor(session: { readonly id: bigint }, settings: DiagnosticsSettings) {
    this.#session = session
    this.#settings = settings
  }

  get connects(): number {
    return this.#connects
  }

  get stats(): SessionStats {
    return {
      ...{ connects: this.#connects, disconnects: this.#disconnects },
      ...{ replies: this.#replies, events: this.#events },
    }
  }

  onAttempt(address: Address): void {
    this.#log(`connecting to ${hostPortOf(address)}`)
  }

  onConnected(address: Address, readOnly: boolean): void {
    this.#connects++
    this.#log(`accepted by ${hostPortOf(address)}${readOnly ? ', which is read-only' : ''}`)
    if (channels.connect.hasSubscribers)
      channels.connect.publish({ address, sessionId: this.#session.id, readOnly } satisfies ConnectMessage)
  }

  onDisconnected(cause: Error): void {
    this.#disconnects++
    this.#log(cause.message)
    if (channels.disconnect.hasSubscribers)
      channels.disconnect.publish({ sessionId: this.#session.id, cause } satisfies DisconnectMessage)
  }

  onStateChanged(state: State, previous: State): void {
    this.#log(`state ${previous} -> ${state}`)
    if (channels.state.hasSubscribers)
      channels.state.publish({ sessionId: this.#session.id, state, previous } satisfies StateMessage)
  }

  onReply(): void {
    this.#replies++
  }

  /** Publishes when the call begins and when it is settled, if there is a subscriber. */
  onCall(request: Request): void {
    if (channels.request.hasSubscribers) this.#follow(request)
  }

  /** A method of its own, because V8 allocates what its closure needs at each entry. */
  #follow(request: Request): void {
    const { path } = request
    const { clock } = this.#settings
    const start = clock.now()
    const message: CallMessage = { sessionId: this.#session.id, op: request.op.method, path }
    channels.call.publish(message)
    const onSettled = (error: unknown) => {
      const errno = error instanceof ZooKeeperError ? error.errno : 0
      const outcome = { sessionId: this.#session.id, xid: request.xid, error, errno, ms: clock.now() - start }
      channels.request.publish(Object.assign(message, outcome) satisfies RequestMessage)
    }
    request.details = { ...request.details, onSettled }
  }

  onEvent({ type, path }: TypeOf<typeof WatcherEvent>): void {
    this.#events++
    if (channels.watch.hasSubscribers)
      channels.watch.publish({ sessionId: this.#session.id, type, path } satisfies WatchMessage)
  }

  #log(line: string): void {
    this.#settings.debugLog?.(`${hex64(this.#session.id)}: ${line}`)
  }
}
