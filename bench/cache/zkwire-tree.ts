// Loads a tree into a Cache, again and again. Prints the milliseconds of each load, the bytes in use after the last one, and
// the bytes in use without it.
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '../../src/index.ts'
import { Cache } from '../../src/recipes/index.ts'

const [servers = '', path = '', loads = '1'] = process.argv.slice(2)

/** The bytes in use after collections: the heap, and the buffers outside it. */
async function used(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.()
    await delay(100)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const client = await connect(servers)
await client.exists(path)
const times: number[] = []
let cache: Cache | undefined
for (let load = 0; load < Number(loads); load++) {
  await cache?.close()
  const startedAt = performance.now()
  cache = new Cache(client, path)
  await cache.ready
  times.push(Math.round(10 * (performance.now() - startedAt)) / 10)
}
const figures = { nodes: cache?.size, bytes: cache?.bytes, times, used: await used() }
await cache?.close()
cache = undefined
console.log(JSON.stringify({ ...figures, without: await used() }))
process.stdin.resume().once('data', () => process.exit())
