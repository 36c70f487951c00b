// Ours, as it is built and used: promises, awaited.
import { Buffer } from 'node:buffer'
import { DATA_BYTES, places } from '../workloads.ts'
import type { Gauge, Make, Peer } from './contestant.ts'
import type { Client } from '../../../src/index.ts'

export const zkwire: Make = async ({ dist, port, directory }) => {
  const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../../src/index.ts')
  return {
    open: async () => peerOf(await connect(`127.0.0.1:${port}`, { sessionTimeout: 60_000 }), directory),
  }
}

function peerOf(client: Client, directory: string): Peer {
  const data = Buffer.alloc(DATA_BYTES, 'x')
  const lines = {
    async getData(gauge: Gauge) {
      do {
        gauge.began()
        await client.getData(places.data)
        gauge.ended()
      } while (!gauge.isOver)
    },
    async setData(gauge: Gauge) {
      do {
        gauge.began()
        await client.setData(places.data, data)
        gauge.ended()
      } while (!gauge.isOver)
    },
    async getChildren(gauge: Gauge) {
      do {
        gauge.began()
        await client.getChildren(places.list)
        gauge.ended()
      } while (!gauge.isOver)
    },
    async createAndDelete(gauge: Gauge) {
      do {
        gauge.began()
        const { path } = await client.create(`${directory}/n-`, data, { mode: 'ephemeralSequential' })
        gauge.ended()
        gauge.began()
        await client.delete(path)
        gauge.ended()
      } while (!gauge.isOver)
    },
  }
  return {
    async drive(op, inFlight, gauge) {
      await Promise.all(Array.from({ length: inFlight }, () => lines[op](gauge)))
    },
    async watch(path, fired) {
      await client.getData(path, { watch: fired })
    },
    close: () => client.close(),
  }
}
