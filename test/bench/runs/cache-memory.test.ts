// The memory of a cache, in a process of its own: its garbage can be collected there without that of other tests.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..', '..')

const program = `
import { connect } from 'zkwire'
import { Cache } from 'zkwire/recipes'
import { Server } from 'zkwire/server'
const used = async () => {
  for (let i = 0; i < 5; i++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
const server = await Server.start({ listen: false })
const zk = await connect(server.connectString, { dial: server.dial })
const data = Buffer.alloc(100)
for (let i = 0; i < 4000; i++)
  await zk.multi([{ create: '/directory-' + i, data }, ...Array.from({ length: 9 }, (_, k) => ({ create: '/directory-' + i + '/node-' + k, data }))])
let cache = new Cache(zk, '/', { paths: path => path !== '/zookeeper' })
await cache.ready
await cache.close()
// The first cache has made V8 compile the code.
cache = new Cache(zk, '/', { paths: path => path !== '/zookeeper' })
await cache.ready
const { size, bytes } = cache
const withCache = await used()
await cache.close()
cache = undefined
console.log(JSON.stringify({ size, bytes, retained: withCache - await used() }))
process.exit()
`

/** So many that the heap of the process itself, which varies by half a megabyte, does not matter. */
describe('a cache of 40 000 nodes', () => {
  it('retains the memory that it says: its data and about 300 bytes a node', async () => {
    const args = ['--expose-gc', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
    const { size, bytes, retained } = JSON.parse(stdout) as Record<'size' | 'bytes' | 'retained', number>
    expect(size).to.equal(40_001)
    expect(bytes / size).to.be.within(380, 420)
    expect(retained).to.be.within(0.8 * bytes, 1.2 * bytes)
  })
})
