// Checks docs/fencing.md: its examples refuse the write of a former holder. The test of the row is in test/interop.
import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expectFencing, loadStore, twoTokens, type FencedStore } from './fencing-story.ts'
import { readDocument } from '../support/document.ts'

describe('docs/fencing.md', () => {
  it('shows the code of the examples', () => {
    const blocks = [...readDocument('docs/fencing.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
    expect(blocks).to.include.members(['row', 'object', 'log'].map(name => readDocument(`examples/fencing/${name}.js`)))
  })

  it('says rightly that a store which only refuses smaller tokens takes a write that comes before the new holder’s', async () => {
    const [first, second] = await twoTokens()
    const store = { token: 0n, data: '' }
    const write = (token: bigint, data: string) => {
      if (token < store.token) throw new Error('late')
      Object.assign(store, { token, data })
    }
    write(first, 'by A')
    const read = store.data
    write(first, 'late') // B was granted the lock and has read
    write(second, `${read}, and by B`)
    expect(store.data).to.equal('by A, and by B')
    expect(() => write(first, 'later')).to.throw('late')
  })

  describe('a file', () => {
    let folder: string
    before(async () => void (folder = await mkdtemp(join(tmpdir(), 'zkwire-fencing-'))))
    after(() => rm(folder, { recursive: true }))

    it('refuses the line of a former holder', async () => {
      const FencedLog = await loadStore<new (path: string) => FencedStore>('log.js', 'FencedLog')
      await expectFencing(() => new FencedLog(join(folder, 'log')))
    })
  })

  it('an object with conditional writes refuses the write of a former holder', async () => {
    // PUT with If-Match and If-None-Match, as S3 documents them.
    let object: { body: string; etag: string } | undefined
    let writes = 0
    const store = createServer((request, response) => {
      void text(request).then(body => {
        if (request.method === 'GET') {
          if (object === undefined) return response.writeHead(404).end()
          return response.setHeader('etag', object.etag).end(object.body)
        }
        const { 'if-match': match, 'if-none-match': none } = request.headers
        const isAllowed = none === '*' ? object === undefined : match === object?.etag
        if (!isAllowed) return response.writeHead(412).end()
        object = { body, etag: `"${++writes}"` }
        return response.setHeader('etag', object.etag).end()
      })
    })
    await new Promise<void>(listening => store.listen(0, '127.0.0.1', listening))
    try {
      const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}/report`
      const FencedObject = await loadStore<new (url: string) => FencedStore>('object.js', 'FencedObject')
      await expectFencing(() => new FencedObject(url))
    } finally {
      store.closeAllConnections()
      await new Promise(closed => store.close(closed))
    }
  })
})
