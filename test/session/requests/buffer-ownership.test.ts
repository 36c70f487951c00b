// What users are given stays what it was: sockets read into the same memory over and over, and all of them into one.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/client/index.ts'
import { sharedServer } from '../../support/shared-server.ts'

/** Of one node or reading: what it held, and what was handed out. */
interface Taken {
  what: string
  expected: Buffer
  data: Buffer
}

/** Below and above the size of Node's pooled buffers, of what is read at a time (64 KiB), and of what lies in memory of its own. */
const SIZES = [1, 16, 100, 4000, 30_000, 65_400, 65_536, 70_000, 130_000, 400_000]

const contentOf = (size: number, turn: number): Buffer => Buffer.alloc(size, `${size}:${turn};`)

describe('bytes that were handed out', () => {
  let clients: [Client, Client]
  before(async () => {
    const { connectString } = await sharedServer()
    const open = () => connect(connectString, { sessionTimeout: 10_000 })
    clients = [await open(), await open()]
    await clients[0].ensurePath('/handed-out')
    for (const size of SIZES) await clients[0].create(`/handed-out/${size}`, contentOf(size, 0))
  })
  after(async () => {
    await clients[0].deleteRecursive('/handed-out')
    await Promise.all(clients.map(client => client.close()))
  })

  it('are never written again, whatever is read later, by whichever client', async () => {
    const passwords = clients.map(({ sessionPassword }) => sessionPassword)
    const taken: Taken[] = []
    const take = (what: string, expected: Buffer, data: Buffer | null) => {
      expect(data?.equals(expected), `${what}, as it came`).to.equal(true)
      taken.push({ what, expected, data: data as Buffer })
    }
    for (let turn = 0; turn < 3; turn++) {
      for (const client of clients) {
        // Many in one chunk, and each on its own.
        const all = await Promise.all(SIZES.map(size => client.getData(`/handed-out/${size}`)))
        for (const [i, size] of SIZES.entries()) {
          take(`${size} bytes among others`, contentOf(size, turn), all[i]?.data ?? null)
          const { data } = await client.getData(`/handed-out/${size}`)
          take(`${size} bytes alone`, contentOf(size, turn), data)
        }
        const several = await client.multiRead(SIZES.map(size => ({ getData: `/handed-out/${size}` })))
        for (const [i, result] of several.entries()) {
          const size = SIZES[i] as number
          take(`${size} bytes of a multiRead`, contentOf(size, turn), 'data' in result ? result.data : null)
        }
      }
      await Promise.all(SIZES.map(size => clients[0].setData(`/handed-out/${size}`, contentOf(size, turn + 1))))
      await clients[1].sync('/handed-out')
    }
    for (const { what, expected, data } of taken) expect(data.equals(expected), what).to.equal(true)
    expect(clients.map(({ sessionPassword }) => sessionPassword)).to.deep.equal(passwords)
  })

  it('belong to whoever asked: writing into them changes nothing that anybody else has', async () => {
    const path = '/handed-out/400000'
    const { data: expected } = await clients[1].getData(path)
    const copy = Buffer.from(expected as Buffer)
    const [first, second] = await Promise.all([clients[0].getData(path), clients[0].getData(path)])
    first.data?.fill(0xee)
    expect(second.data?.equals(copy)).to.equal(true)
    expect(expected?.equals(copy)).to.equal(true)
  })
})
