// What the client knows of its servers' versions. A server answers an operation that it does not know with UNIMPLEMENTED,
// ahead of the replies that are due, and closes the connection (UnimplementedRequestProcessor). The writes in flight
// would be lost: those before it are executed, and one after it may be. So no write is in flight beside an operation
// that the server may lack. Reads may be, because they can be sent again. Pure: the time is passed in.

/** How long the client relies on what it knows, in milliseconds. The server may be replaced by another version. */
const LIFETIME = 3_600_000

/**
 * After how many connections in a row that the server has closed without a reply to an operation the client takes it for
 * one that the server does not know. Some servers, such as zetcd, close the connection in place of an answer.
 */
const DROPS = 3

/** What one server's replies have shown. Versions are minor versions of 3.x, as in {@link Operation.since}. */
export class ServerVersion {
  /** The server knows the operations of this version and of earlier ones. */
  #known = 0
  /** The server lacks the operations of this version and of later ones. */
  #lacking = Infinity
  /** The connections that were lost in a row while an operation that the server may lack was the first in flight. */
  #drops = 0

  lacks(since: number): boolean {
    return since >= this.#lacking
  }

  /** Returns true if the server may know or lack the operations of a version. */
  isUnsureOf(since: number): boolean {
    return since > this.#known && since < this.#lacking
  }

  /** The server has executed or rejected an operation, so it knows it. */
  onKnown(since: number): void {
    if (since <= this.#known) return
    this.#drops = 0
    this.#known = since
    if (since >= this.#lacking) this.#lacking = Infinity
  }

  /**
   * A connection was lost before the server had replied to an operation, and after all replies that were due before.
   * Returns true if the server seems not to know the operation.
   */
  onDropped(since: number): boolean {
    if (!this.isUnsureOf(since) || ++this.#drops < DROPS) return false
    this.onLacking(since)
    return true
  }

  /** The server has answered that it does not know an operation. */
  onLacking(since: number): void {
    if (since === 0 || since >= this.#lacking) return
    this.#lacking = since
    this.#drops = 0
    this.#known = Math.min(this.#known, since - 1)
  }
}

/** The versions of all servers of a session. They may differ. */
export class ServerVersions {
  readonly #entries = new Map<string, { version: ServerVersion; createdAt: number }>()

  /** Returns what is known of a host. A connection keeps the same object, because its server cannot change. */
  of(host: string, now: number): ServerVersion {
    for (const [key, { createdAt }] of this.#entries) if (now - createdAt >= LIFETIME) this.#entries.delete(key)
    let entry = this.#entries.get(host)
    if (entry === undefined) this.#entries.set(host, (entry = { version: new ServerVersion(), createdAt: now }))
    return entry.version
  }
}
