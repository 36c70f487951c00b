// Checks docs/data.md: runs its code, and measures its tables of costs.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Cache } from '../../src/recipes/index.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { measured } from './frame-costs.ts'

const DIRECTORIES = 1000
const data = 'x'.repeat(100)

async function fill(zk: Client): Promise<void> {
  await zk.create('/tree', data)
  for (let i = 1; i < DIRECTORIES; i++) {
    const path = `/tree/directory-${String(i).padStart(4, '0')}`
    const count = i === DIRECTORIES - 1 ? 18 : 9
    await zk.multi([
      { create: path, data },
      ...Array.from({ length: count }, (_, k) => ({ create: `${path}/node-${k}`, data })),
    ])
  }
}

/** Measures the rows of the table. */
async function measure(hasPersistentWatches: boolean): Promise<string[]> {
  const rows: string[] = []
  await measured(async ({ virtual, costs, client, other: zk }) => {
    await fill(zk)
    if (!hasPersistentWatches)
      virtual.server.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity, session: client.sessionId })
    costs.take()
    const cache = new Cache(client, '/tree')
    await cache.ready
    expect(cache.size).to.equal(10 * DIRECTORIES)
    const row = async (step: string, change: () => Promise<unknown>) => {
      await change()
      await virtual.sleep(100)
      rows.push(`${step} | ${costs.take()}`)
    }
    const path = '/tree/directory-0001/new'
    await row('load', () => Promise.resolve())
    await row('another client creates a node', () => zk.create(path, data))
    await row('another client changes a node', () => zk.setData(path, data))
    await row('another client changes a node 1 000 times at once', () =>
      Promise.all(Array.from({ length: 1000 }, () => zk.setData(path, data))),
    )
    await row('another client deletes a node', () => zk.delete(path))
    virtual.server.dropConnections()
    await client.whenConnected()
    await row('reconnect', () => Promise.resolve())
    await row('`close()`', () => cache.close())
  })
  return rows.map(row => `${hasPersistentWatches ? 'from 3.6 on' : '3.4, 3.5'} | ${row}`)
}

describe('docs/data.md', () => {
  testCodeBlocks('docs/data.md', [
    /^blue \[ 'colour' \]\nchanged \/settings\/colour from blue to green\n\/settings 0\n\/settings\/colour 1\n$/,
    /^created \/settings\ncreated \/settings\/colour\ntrue 2\n$/,
    /^3n 3n\nab 1\ntrue\n$/,
    /^urgent\nfirst\nsecond\n0\n$/,
    /^host-1 at \/leases\/report\nnull\n$/,
    /^ann\nnobody and ann\n$/,
    /^true\n$/,
    /^ready\n$/,
    /^\[ 'host-1 eu' \]\n$/,
    /^host-1 owns \w\nhost-1 owns \w\nhost-1 owns \w\nreleased\n$/,
    /^http:\/\/10\.0\.0\.1:8080 3\n$/,
  ])

  it('lists the measured costs of a Cache', async function () {
    this.timeout(60_000)
    const listed = [...readDocument('docs/data.md').matchAll(/^\| ((?:from 3.6 on|3.4, 3.5) \| .*) \|$/gm)]
    const rows = [...(await measure(true)), ...(await measure(false))]
    expect(listed.map(([, row]) => row)).to.deep.equal(rows)
  })

  after(async () => {
    await using zk = await connect((await sharedServer()).connectString)
    for (const path of [
      '/settings',
      '/counters',
      '/queues',
      '/mails',
      '/leases',
      '/hosts',
      '/workers',
      '/shards',
      '/services',
    ])
      await zk.deleteRecursive(path)
  })
})
