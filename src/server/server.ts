// An embedded ZooKeeper, in memory: for tests, demos and teaching. It is a single server, and writes its data to a file
// only when it closes. In production, connect the same client to an Apache ZooKeeper ensemble.
import { badArguments } from '../protocol/index.ts'
import { listenTcp, type Listener } from '../transport/listen.ts'
import { memoryDial } from '../transport/memory.ts'
import type { Dial } from '../transport/transport.ts'
import type { Faults } from './faults.ts'
import { readData, writeData } from './data-file.ts'
import { settingsOf, type ServerOptions, type Settings } from './options.ts'
import { encodeState } from './saved-state.ts'
import { snapshotOf, type Snapshot } from './snapshot.ts'
import { Standalone } from './standalone.ts'
import type { ServerStats } from './stats.ts'

/** Returns a server with the state of its file, if there is one. Does not wait if no file is given. */
function coreOf(settings: Settings): Standalone | Promise<Standalone> {
  const { dataFile } = settings
  if (dataFile === undefined) return new Standalone(settings)
  return readData(dataFile).then(state => {
    try {
      return new Standalone(settings, state)
    } catch (error) {
      throw badArguments('Server.start', '', `${dataFile} is not a state of this server: ${(error as Error).message}`)
    }
  })
}

/** An embedded ZooKeeper server in memory, for tests. `Server.start()` creates one, and `close()` must end it. */
export class Server {
  readonly #standalone: Standalone
  #listener: Listener | undefined
  #isRunning = true
  #closing: Promise<void> | undefined
  /** Settles when the last call of start(), stop() or close() is done. Each call waits for the one before. */
  #transition: Promise<void> = Promise.resolve()
  /** Connects to this server without a socket: `connect(server.connectString, { dial: server.dial })`. */
  readonly dial: Dial
  /** The address that the server listens on, or 'memory' if it does not listen. */
  readonly host: string
  /** The TCP port, or 0 if the server does not listen. */
  readonly port: number
  /**
   * Plans faults: replies and events that are held, delayed or lost, errors instead of replies, and connections that
   * are cut.
   */
  readonly faults: Faults

  private constructor(core: Standalone, listener: Listener | undefined) {
    this.#standalone = core
    this.#listener = listener
    this.dial = memoryDial(core.core.accept)
    this.host = listener?.address.host ?? 'memory'
    this.port = listener?.address.port ?? 0
    this.faults = core.faults
  }

  /**
   * Starts a server, which is empty unless `dataFile` names a file. Resolves when it accepts connections.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid or does not exist, or the file is malformed
   * @throws Error of node:net if the address is not available, such as EADDRINUSE
   * @throws Error of node:tls if a key or a certificate of `tls` is invalid
   */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const settings = settingsOf(options)
    const core = await coreOf(settings)
    try {
      const listener = settings.listen ? await listenTcp(settings, core.core.accept, settings.tls) : undefined
      core.core.port = listener?.address.port ?? 0
      return new Server(core, listener)
    } catch (error) {
      core.close()
      throw error
    }
  }

  /** The argument for connect(). If the server does not listen, the address is a placeholder: pass `dial` too. */
  get connectString(): string {
    const host = this.host.includes(':') ? `[${this.host}]` : this.host
    return `${host}:${this.port === 0 ? 2181 : this.port}`
  }

  /** Frames and bytes received and sent since `Server.start()`. */
  get stats(): ServerStats {
    return this.#standalone.core.stats
  }

  /** Returns a copy of the current nodes, watches and sessions. */
  snapshot(): Snapshot {
    return snapshotOf(this.#standalone.core)
  }

  /**
   * Expires a session at once, as if its client had been silent for too long. Returns false if there is no such
   * session.
   */
  expireSession(id: bigint): boolean {
    const session = this.#standalone.leader.sessions.get(id)
    if (session !== undefined) this.#standalone.endSession(session)
    return session !== undefined
  }

  /** Closes every connection. The sessions continue until they expire. */
  dropConnections(): void {
    this.#standalone.core.dropConnections()
  }

  /**
   * Simulates a process that is stopped. The server still accepts connections and bytes, but executes nothing and sends
   * nothing. No session expires. Does nothing if the server is paused already.
   */
  pause(): void {
    this.#standalone.pause()
  }

  /**
   * Ends the pause. Executes the requests received during it, and then expires the sessions that are overdue and sent
   * none.
   */
  resume(): void {
    this.#standalone.resume()
  }

  /**
   * Ends the server like a process that is killed: closes every connection, discards all replies that are not sent, and
   * refuses connections until `start()`. Nodes and sessions stay, no session expires, and faults stay planned. Ends a
   * pause. Does nothing if the server is stopped already.
   */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isRunning) return
      this.#isRunning = false
      const closed = this.#listener?.close()
      this.#standalone.stop()
      await closed
    })
  }

  /**
   * Starts the server again after `stop()`: on the same port, with the same nodes and sessions. Each session gets its
   * whole timeout again, as when Apache's server starts. Does nothing if the server is running.
   * @throws ZooKeeperError BADARGUMENTS if the server is closed
   * @throws Error of node:net if another process uses the port now. The server is still stopped then.
   */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#closing !== undefined)
        throw badArguments('start', '', 'the server is closed: start another one with Server.start()')
      if (this.#isRunning) return
      const { host, port } = this
      this.#standalone.start()
      try {
        if (this.#listener !== undefined)
          this.#listener = await listenTcp(
            { host, port },
            this.#standalone.core.accept,
            this.#standalone.leader.settings.tls,
          )
      } catch (error) {
        this.#standalone.stop()
        throw error
      }
      this.#isRunning = true
    })
  }

  /**
   * Sets the number that the next sequential child of `path` gets. The counter stays at 2147483647 when it has reached
   * it.
   * @param next a 32-bit integer
   * @throws ZooKeeperError BADARGUMENTS if `next` is not a 32-bit integer, or the node does not exist
   */
  setSequenceCounter(path: string, next: number): void {
    const fail = (problem: string) => badArguments('setSequenceCounter', path, problem)
    if (!Number.isInteger(next) || (next | 0) !== next) throw fail(`next must be a 32-bit integer, not ${String(next)}`)
    const node = this.#standalone.leader.database.tree.find(path)
    if (node === undefined) throw fail('the node does not exist')
    node.created = next
  }

  /** Deletes at once the containers and the nodes with a ttl that the next periodic check would delete. */
  runContainerCheck(): void {
    this.#standalone.leader.checkContainers()
  }

  /**
   * Closes all connections and discards all sessions, like the end of the process.
   * `snapshot()` still shows the last nodes. Writes the option `dataFile`, if it was given.
   * @throws Error of node:fs if it cannot write the file. The server is closed nevertheless.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  #close(): Promise<void> {
    const { dataFile } = this.#standalone.leader.settings
    const state = dataFile === undefined ? '' : encodeState(this.#standalone.leader)
    const stopped = this.stop()
    this.#standalone.close()
    return dataFile === undefined ? stopped : stopped.then(() => writeData(dataFile, state))
  }

  /** Runs a change of state after the one before it has settled. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#transition.then(change)
    this.#transition = done.catch(() => undefined)
    return done
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
