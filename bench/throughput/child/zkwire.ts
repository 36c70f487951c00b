// zkwire as users run it: the built package, with awaited promises.
import { Buffer } from 'node:buffer'
import { DATA_BYTES, paths, type Steady } from '../workloads.ts'
import type { Gauge, Make, Peer } from './subject.ts'
import type { Client } from '../../../src/index.ts'

export const zkwire: Make = async ({ dist, port, directory }) => {
  const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../../src/index.ts')
  return { open: async () => new ZkwirePeer(await connect(`127.0.0.1:${port}`, { sessionTimeout: 60_000 }), directory) }
}

const data = Buffer.alloc(DATA_BYTES, 'x')

/** The calls of a client with promises. */
export interface PromisedClient {
  getData(path: string): Promise<unknown>
  getChildren(path: string): Promise<unknown>
  setData(path: string, data: Buffer): Promise<unknown>
  create(path: string, data: Buffer, options: { mode: 'ephemeralSequential' }): Promise<{ path: string }>
  delete(path: string): Promise<unknown>
  close(): Promise<void>
}

/** Awaits each call. */
export class PromisedPeer<C extends PromisedClient = PromisedClient> implements Peer {
  protected readonly client: C
  readonly #directory: string

  constructor(client: C, directory: string) {
    this.client = client
    this.#directory = directory
  }

  async drive(op: Steady, inFlight: number, gauge: Gauge): Promise<void> {
    await Promise.all(Array.from({ length: inFlight }, () => this[op](gauge)))
  }

  async getData(gauge: Gauge): Promise<void> {
    const { client } = this
    do {
      gauge.began()
      await client.getData(paths.data)
      gauge.ended()
    } while (!gauge.isOver)
  }

  async setData(gauge: Gauge): Promise<void> {
    const { client } = this
    do {
      gauge.began()
      await client.setData(paths.data, data)
      gauge.ended()
    } while (!gauge.isOver)
  }

  async getChildren(gauge: Gauge): Promise<void> {
    const { client } = this
    do {
      gauge.began()
      await client.getChildren(paths.list)
      gauge.ended()
    } while (!gauge.isOver)
  }

  async createAndDelete(gauge: Gauge): Promise<void> {
    const { client } = this
    do {
      gauge.began()
      const { path } = await client.create(`${this.#directory}/n-`, data, { mode: 'ephemeralSequential' })
      gauge.ended()
      gauge.began()
      await client.delete(path)
      gauge.ended()
    } while (!gauge.isOver)
  }

  watch(_path: string, _fired: () => void): Promise<void> {
    return Promise.reject(new Error('this client has no watches'))
  }

  close(): Promise<void> {
    return this.client.close()
  }
}

class ZkwirePeer extends PromisedPeer<Client> {
  override async watch(path: string, fired: () => void): Promise<void> {
    await this.client.getData(path, { watch: fired })
  }
}
