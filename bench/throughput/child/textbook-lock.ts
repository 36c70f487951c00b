// The lock of ZooKeeper's documentation, as a program writes it by hand on npm node-zookeeper-client: each waiter watches
// its predecessor, and lists the directory when that node is deleted.
import { Buffer } from 'node:buffer'
import type { EventEmitter } from 'node:events'

type Callback<T> = (error: Error | null, result: T) => void

interface PlainClient extends EventEmitter {
  connect(): void
  close(): void
  create(path: string, data: Buffer, mode: number, callback: Callback<string>): void
  remove(path: string, callback: Callback<unknown>): void
  exists(path: string, watcher: () => void, callback: Callback<object | null>): void
  getChildren(path: string, callback: Callback<string[]>): void
}

export interface Package {
  createClient(servers: string, options: { sessionTimeout: number }): PlainClient
  CreateMode: { EPHEMERAL_SEQUENTIAL: number }
}

const promised = <T>(call: (callback: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, result) => (error === null ? resolve(result) : reject(error))))

/** Returns a function that acquires the lock, and resolves with what releases it. The directory must exist. */
export const textbookLock =
  ({ CreateMode }: Package, client: PlainClient, directory: string) =>
  async () => {
    const own = await promised<string>(done =>
      client.create(`${directory}/lock-`, Buffer.alloc(0), CreateMode.EPHEMERAL_SEQUENTIAL, done),
    )
    for (;;) {
      const names = await promised<string[]>(done => client.getChildren(directory, done))
      const paths = names.sort().map(name => `${directory}/${name}`)
      const predecessor = paths[paths.indexOf(own) - 1]
      if (predecessor === undefined) return () => promised(done => client.remove(own, done))
      let onEvent: () => void = () => undefined
      const event = new Promise<void>(resolve => (onEvent = resolve))
      const stat = await promised<object | null>(done => client.exists(predecessor, onEvent, done))
      if (stat !== null) await event
    }
  }
