// What can be observed from outside: counters, and channels of node:diagnostics_channel. No other file imports that module.
import type { Clock } from '../runtime/clock.ts'
import { channel } from 'node:diagnostics_channel'
import type { TypeOf, WatcherEvent } from '../protocol/index.ts'
import type { Address } from '../transport/transport.ts'
import type { Request } from './requests/request.ts'
import type { State } from './life/states.ts'

const channels = {
  connect: channel('zkwire:connect'),
  disconnect: channel('zkwire:disconnect'),
  state: channel('zkwire:state'),
  request: channel('zkwire:request'),
  watch: channel('zkwire:watch'),
}

/** Published on `zkwire:connect`: a server has given the session. */
export interface ConnectMessage {
  address: Address
  sessionId: bigint
  readOnly: boolean
}
/** Published on `zkwire:disconnect`: a connection was lost, or an attempt has failed. */
export interface DisconnectMessage {
  sessionId: bigint
  cause: Error
}
/** Published on `zkwire:state`: the state has changed, the end of the session included. */
export interface StateMessage {
  sessionId: bigint
  state: State
  previous: State
}
/** Published on `zkwire:request`: a server has answered. `errno` is 0 unless it answered with an error. */
export interface RequestMessage {
  sessionId: bigint
  op: string
  path: string
  xid: number
  errno: number
  /** Milliseconds from the turn in which it was sent to its reply. */
  ms: number
}
/** Published on `zkwire:watch`: a server has sent an event, whether or not a watch here still waits for it. */
export interface WatchMessage {
  sessionId: bigint
  /** A number of Watcher.Event.EventType: 1 created, 2 deleted, 3 data changed, 4 children changed. */
  type: number
  path: string | null
}

/** Counters of one session, since it began. */
export interface SessionStats {
  /** How often a server gave the session. */
  connects: number
  /** Lost connections and failed attempts. */
  disconnects: number
  /** Replies to requests, errors included. */
  replies: number
  /** Watch events. */
  events: number
}

export class Diagnostics {
  #connects = 0
  #disconnects = 0
  #replies = 0
  #events = 0

  get stats(): SessionStats {
    return {
      ...{ connects: this.#connects, disconnects: this.#disconnects },
      ...{ replies: this.#replies, events: this.#events },
    }
  }

  onConnected(address: Address, sessionId: bigint, readOnly: boolean): void {
    this.#connects++
    if (channels.connect.hasSubscribers)
      channels.connect.publish({ address, sessionId, readOnly } satisfies ConnectMessage)
  }

  onDisconnected(sessionId: bigint, cause: Error): void {
    this.#disconnects++
    if (channels.disconnect.hasSubscribers)
      channels.disconnect.publish({ sessionId, cause } satisfies DisconnectMessage)
  }

  onStateChanged(sessionId: bigint, state: State, previous: State): void {
    if (channels.state.hasSubscribers) channels.state.publish({ sessionId, state, previous } satisfies StateMessage)
  }

  onReply(sessionId: bigint, { call, xid, sentAt }: Request, errno: number, clock: Clock): void {
    this.#replies++
    if (!channels.request.hasSubscribers) return
    const ms = clock.now() - (sentAt?.now ?? 0)
    const { path, op } = call
    channels.request.publish({ sessionId, op: op.method, path, xid, errno, ms } satisfies RequestMessage)
  }

  onEvent(sessionId: bigint, { type, path }: TypeOf<typeof WatcherEvent>): void {
    this.#events++
    if (channels.watch.hasSubscribers) channels.watch.publish({ sessionId, type, path } satisfies WatchMessage)
  }
}
