// What the client knows of its servers' versions. A server answers an operation that it does not know with UNIMPLEMENTED,
// ahead of the replies that are due, and closes the connection (UnimplementedRequestProcessor). The writes in flight
// would be lost: those before it are executed, and one after it may be. So no write is in flight beside an operation
// that the server may lack. Reads may be, because they can be sent again. What is known of a server is kept for the process,
// or for one network: see gapsOf. The time is passed in.

import { shared } from '../../runtime/shared.ts'

/** How long the client relies on what it knows, in milliseconds. The server may be replaced by another version. */
const LIFETIME = 3_600_000

/**
 * After how many connections in a row that the server has closed without a reply to an operation the client takes it for
 * one that the server does not know. Some servers, such as zetcd, close the connection in place of an answer.
 */
const DROPS = 3

/** A request, as far as it shows what a server knows. `since` is a minor version of 3.x, as in {@link Operation.since}. */
export interface Sent {
  readonly op: { readonly opcode: number }
  readonly since: number
}

/**
 * What is known of a server that is no ZooKeeper, such as ClickHouse Keeper: it offers a new session to a client that had one,
 * and closes the connection at an operation that it lacks. It has some operations of a version, and lacks others.
 */
interface Gaps {
  /** The operations that it has executed or rejected. */
  readonly present: Set<number>
  /** Those at which it has closed the connection. */
  readonly absent: Set<number>
}

/** A number for what a request needs: a multi needs more than its own operation. */
const needOf = ({ op, since }: Sent): number => op.opcode * 16 + since

/** What one server's replies have shown. */
export class ServerVersion {
  /** The server knows the operations of this version and of earlier ones. */
  #known = 0
  /** The server lacks the operations of this version and of later ones. */
  #lacking = Infinity
  /** The connections that were lost in a row while an operation that the server may lack was the first in flight. */
  #drops = 0

  /** Undefined for a server that has never replaced a session. */
  #gaps: Gaps | undefined
  /** The request that was in flight when the connection was lost, and that the server may lack. */
  #suspect: Sent | undefined

  /** @param gaps what other sessions have found out about the server */
  constructor(gaps?: Gaps) {
    this.#gaps = gaps
  }

  /** True for a server that has replaced a session, and so resumes none. */
  get replacesSessions(): boolean {
    return this.#gaps !== undefined
  }

  lacks(sent: Sent): boolean {
    return sent.since >= this.#lacking || this.#gaps?.absent.has(needOf(sent)) === true
  }

  /** Returns true if the server may know or lack what is sent. */
  isUnsureOf(sent: Sent): boolean {
    if (sent.since <= this.#known || this.lacks(sent)) return false
    return this.#gaps?.present.has(needOf(sent)) !== true
  }

  /** The server has executed or rejected an operation, so it knows it. */
  onKnown(sent: Sent): void {
    const { since } = sent
    if (since <= this.#known) return
    if (this.#gaps !== undefined) {
      this.#gaps.present.add(needOf(sent))
      return
    }
    this.#drops = 0
    this.#known = since
    if (since >= this.#lacking) this.#lacking = Infinity
  }

  /**
   * A connection was lost before the server had replied to an operation, and after all replies that were due before.
   * Returns true if the server seems not to know the operation.
   */
  onDropped(sent: Sent): boolean {
    if (!this.isUnsureOf(sent) || ++this.#drops < DROPS) return false
    this.onLacking(sent)
    return true
  }

  /** A connection was lost before the server had replied to this request, the first that it may lack. */
  suspect(sent: Sent): void {
    const { op, since } = sent
    this.#suspect = { op, since }
  }

  /** A server has replaced the session, which no ZooKeeper does. If it closed the connection at an operation, it lacks that. */
  onReplaced(gaps: Gaps): void {
    this.#gaps = gaps
    // What the server knows of a version says nothing about the rest of that version.
    this.#known = 0
    const suspect = this.#suspect
    if (suspect !== undefined) gaps.absent.add(needOf(suspect))
  }

  /** The server has answered that it does not know an operation. */
  onLacking({ since }: Sent): void {
    if (since === 0 || since >= this.#lacking) return
    this.#lacking = since
    this.#drops = 0
    this.#known = Math.min(this.#known, since - 1)
  }
}

/** The gaps of the servers that this process has met. No session that such a server opens lives longer than a connection. */
export class ProcessGaps {
  readonly #byHost = new Map<string, { gaps: Gaps; createdAt: number }>()

  of(host: string, now: number): Gaps | undefined {
    const entry = this.#byHost.get(host)
    if (entry === undefined || now - entry.createdAt < LIFETIME) return entry?.gaps
    this.#byHost.delete(host)
    return undefined
  }

  create(host: string, now: number): Gaps {
    const gaps = { present: new Set<number>(), absent: new Set<number>() }
    this.#byHost.set(host, { gaps, createdAt: now })
    return gaps
  }
}

/** The versions of all servers of a session. They may differ. */
export class ServerVersions {
  readonly #shared: ProcessGaps
  readonly #entries = new Map<string, { version: ServerVersion; createdAt: number }>()

  constructor(shared: ProcessGaps) {
    this.#shared = shared
  }

  /** A server has replaced the session by another one. All servers of an ensemble are of the same kind. */
  onReplaced(now: number): void {
    for (const [host, { version }] of this.#entries)
      version.onReplaced(this.#shared.of(host, now) ?? this.#shared.create(host, now))
  }

  /** Returns what is known of a host. A connection keeps the same object, because its server cannot change. */
  of(host: string, now: number): ServerVersion {
    for (const [key, { createdAt }] of this.#entries) if (now - createdAt >= LIFETIME) this.#entries.delete(key)
    let entry = this.#entries.get(host)
    if (entry === undefined) {
      entry = { version: new ServerVersion(this.#shared.of(host, now)), createdAt: now }
      this.#entries.set(host, entry)
    }
    return entry.version
  }
}

/** The gaps of servers by the network in which their hosts have these names. */
const byNetwork = shared('server-gaps', () => new WeakMap<object, ProcessGaps>())

/** @param network default: that of the process */
export function gapsOf(network: object = globalThis): ProcessGaps {
  let gaps = byNetwork.get(network)
  if (gaps === undefined) byNetwork.set(network, (gaps = new ProcessGaps()))
  return gaps
}
