// npm zookeeper: a native binding of the C client, with callbacks.
import { Buffer } from 'node:buffer'
import { createRequire } from 'node:module'
import { DATA_BYTES, paths } from '../workloads.ts'
import { driveCallbacks, failIf, thenOrFail, type Make, type Peer } from './subject.ts'

type Answer<T = unknown> = (rc: number, error: string, result: T) => void

interface Binding {
  init(config: object): void
  once(event: 'connect' | 'close', listener: () => void): void
  close(): void
  a_get(path: string, watch: boolean, callback: Answer): void
  aw_get(path: string, watcher: () => void, callback: Answer): void
  a_set(path: string, data: Buffer, version: number, callback: Answer): void
  a_get_children2(path: string, watch: boolean, callback: Answer): void
  a_create(path: string, data: Buffer, flags: number, callback: Answer<string>): void
  a_delete_(path: string, version: number, callback: Answer): void
}

const EPHEMERAL_SEQUENTIAL = 3

/**
 * Keeps clients from being collected: the binding does not reference a connecting client, and its collection ends the
 * process.
 */
const clients = new Set<Binding>()

export const zookeeper: Make = ({ peers, port, directory }) => {
  const ZooKeeper = createRequire(peers)('zookeeper') as new () => Binding
  const open = () =>
    new Promise<Peer>(resolve => {
      const client = new ZooKeeper()
      clients.add(client)
      client.once('connect', () => resolve(peerOf(client, directory)))
      // Log level 1: errors only.
      client.init({ connect: `127.0.0.1:${port}`, timeout: 60_000, debug_level: 1, host_order_deterministic: false })
    })
  return Promise.resolve({ open })
}

const data = Buffer.alloc(DATA_BYTES, 'x')

function peerOf(client: Binding, directory: string): Peer {
  const created: (string | undefined)[] = []
  const begin = {
    getData: (_line: number, done: () => void) => {
      client.a_get(paths.data, false, thenOrFail(done))
    },
    setData: (_line: number, done: () => void) => {
      client.a_set(paths.data, data, -1, thenOrFail(done))
    },
    getChildren: (_line: number, done: () => void) => {
      client.a_get_children2(paths.list, false, thenOrFail(done))
    },
    createAndDelete: (line: number, done: () => void) => {
      const path = created[line]
      created[line] = undefined
      if (path !== undefined) client.a_delete_(path, -1, thenOrFail(done))
      else
        client.a_create(`${directory}/n-`, data, EPHEMERAL_SEQUENTIAL, (rc, _error, path) => {
          failIf(rc)
          created[line] = path
          done()
        })
    },
  }
  return {
    drive: (op, inFlight, gauge) => driveCallbacks(inFlight, gauge, begin[op]),
    // The binding stores its client on the function itself, so each client needs its own function.
    watch: (path, fired) => new Promise(resolve => client.aw_get(path, () => fired(), thenOrFail(resolve))),
    close: () =>
      new Promise(resolve => {
        client.once('close', () => {
          clients.delete(client)
          resolve()
        })
        client.close()
      }),
  }
}
