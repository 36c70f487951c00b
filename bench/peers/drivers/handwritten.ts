// The contenders of node-zookeeper-client. It has no locks, so programs contain one of these two, written by hand from
// the recipe of ZooKeeper's documentation. Argument: the path of the package.
import { createRequire } from 'node:module'
import { serve } from './lines.ts'

interface Failure extends Error {
  getCode(): number
}

interface ChangeEvent {
  getType(): number
}

type Callback<T> = (error: Failure | undefined, result: T) => void
type Watcher = (event: ChangeEvent) => void

interface PlainClient {
  connect(): void
  close(): void
  once(event: 'connected' | 'disconnected', listener: () => void): void
  mkdirp(path: string, done: Callback<string>): void
  create(path: string, data: Buffer | null, mode: number, done: Callback<string>): void
  remove(path: string, version: number, done: Callback<unknown>): void
  exists(path: string, watcher: Watcher | null, done: Callback<unknown>): void
  getChildren(path: string, watcher: Watcher | null, done: Callback<string[]>): void
}

interface Package {
  createClient(address: string, options: { sessionTimeout: number }): PlainClient
  CreateMode: { EPHEMERAL_SEQUENTIAL: number }
  Exception: { NO_NODE: number }
}

const zookeeper = createRequire(import.meta.url)(process.argv[2] ?? '') as Package

const promised = <T>(call: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result))))

/** One queue of one session. */
class SequentialLock {
  readonly #client: PlainClient
  readonly #directory: string
  #isMade = false

  constructor(client: PlainClient, directory: string) {
    this.#client = client
    this.#directory = directory
  }

  /** @param watchesAll true if a waiter watches the directory, false if it watches the node before its own */
  async acquire(watchesAll: boolean, patience: number): Promise<(() => Promise<void>) | undefined> {
    if (!this.#isMade) await promised<string>(done => this.#client.mkdirp(this.#directory, done))
    this.#isMade = true
    const node = await promised<string>(done =>
      this.#client.create(`${this.#directory}/lock-`, null, zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL, done),
    )
    const release = async () => {
      await promised<unknown>(done => this.#client.remove(node, -1, done))
    }
    const late = patience === 0 ? new AbortController().signal : AbortSignal.timeout(patience)
    const lateness = new Promise<void>(resolve => late.addEventListener('abort', () => resolve()))
    while (!late.aborted) {
      const changed = watchesAll ? await this.#directoryChange(node) : await this.#predecessorChange(node)
      if (changed === undefined) return release
      await Promise.race([changed.promise, lateness])
    }
    await release()
    return undefined
  }

  /** Resolves with undefined if the node is the first, otherwise with the next change of the directory. */
  async #directoryChange(node: string): Promise<{ promise: Promise<void> } | undefined> {
    let onChange: Watcher = () => undefined
    const promise = new Promise<void>(resolve => (onChange = () => resolve()))
    const names = await promised<string[]>(done => this.#client.getChildren(this.#directory, onChange, done))
    return names.sort()[0] === nameOf(node) ? undefined : { promise }
  }

  /** Resolves with undefined if the node is the first, otherwise with the next change of the node before it. */
  async #predecessorChange(node: string): Promise<{ promise: Promise<void> } | undefined> {
    const names = await promised<string[]>(done => this.#client.getChildren(this.#directory, null, done))
    const predecessor = names.sort()[names.indexOf(nameOf(node)) - 1]
    if (predecessor === undefined) return undefined
    let onChange: Watcher = () => undefined
    const promise = new Promise<void>(resolve => (onChange = () => resolve()))
    const path = `${this.#directory}/${predecessor}`
    const stat = await promised<unknown>(done =>
      this.#client.exists(path, onChange, (error, found) =>
        error?.getCode() === zookeeper.Exception.NO_NODE ? done(undefined, undefined) : done(error, found),
      ),
    )
    return { promise: stat ? promise : Promise.resolve() }
  }
}

const nameOf = (node: string): string => node.slice(node.lastIndexOf('/') + 1)

await serve(async (address, sessionTimeout) => {
  const client = zookeeper.createClient(address, { sessionTimeout })
  const connected = new Promise<void>(resolve => client.once('connected', resolve))
  client.connect()
  await connected
  const locks = new Map<string, SequentialLock>()
  return {
    acquire: (recipe, path, patience) => {
      const lock = locks.get(path) ?? new SequentialLock(client, path)
      locks.set(path, lock)
      return lock.acquire(recipe === 'directory', patience)
    },
    close: () => {
      client.close()
      return Promise.resolve()
    },
  }
})
