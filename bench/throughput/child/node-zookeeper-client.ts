// npm node-zookeeper-client: plain JavaScript with callbacks.
import { Buffer } from 'node:buffer'
import { once, type EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { DATA_BYTES, paths } from '../workloads.ts'
import { driveCallbacks, failIf, thenOrFail, type Make, type Peer } from './subject.ts'

type Callback<T = unknown> = (error: Error | null, result: T) => void

interface NzcClient extends EventEmitter {
  connect(): void
  close(): void
  getData(path: string, callback: Callback): void
  getData(path: string, watcher: () => void, callback: Callback): void
  setData(path: string, data: Buffer, version: number, callback: Callback): void
  getChildren(path: string, callback: Callback): void
  create(path: string, data: Buffer, mode: number, callback: Callback<string>): void
  remove(path: string, callback: Callback): void
}
interface Nzc {
  createClient(servers: string, options: object): NzcClient
  CreateMode: { EPHEMERAL_SEQUENTIAL: number }
}

export const nodeZookeeperClient: Make = ({ peers, port, directory }) => {
  const nzc = createRequire(peers)('node-zookeeper-client') as Nzc
  const open = async () => {
    const client = nzc.createClient(`127.0.0.1:${port}`, { sessionTimeout: 60_000 })
    const connected = once(client, 'connected')
    client.connect()
    await connected
    return peerOf(client, nzc, directory)
  }
  return Promise.resolve({ open })
}

const data = Buffer.alloc(DATA_BYTES, 'x')

function peerOf(client: NzcClient, { CreateMode }: Nzc, directory: string): Peer {
  const created: (string | undefined)[] = []
  const begin = {
    getData: (_line: number, done: () => void) => {
      client.getData(paths.data, thenOrFail(done))
    },
    setData: (_line: number, done: () => void) => {
      client.setData(paths.data, data, -1, thenOrFail(done))
    },
    getChildren: (_line: number, done: () => void) => {
      client.getChildren(paths.list, thenOrFail(done))
    },
    createAndDelete: (line: number, done: () => void) => {
      const path = created[line]
      created[line] = undefined
      if (path !== undefined) client.remove(path, thenOrFail(done))
      else
        client.create(`${directory}/n-`, data, CreateMode.EPHEMERAL_SEQUENTIAL, (error, path) => {
          failIf(error)
          created[line] = path
          done()
        })
    },
  }
  return {
    drive: (op, inFlight, gauge) => driveCallbacks(inFlight, gauge, begin[op]),
    watch: (path, fired) => new Promise(resolve => client.getData(path, fired, thenOrFail(resolve))),
    close: async () => {
      const disconnected = once(client, 'disconnected')
      client.close()
      await disconnected
    },
  }
}
