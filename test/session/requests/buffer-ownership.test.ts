// Data that a client returns must never change, although all sockets read into the same memory again and again.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/client/index.ts'
import { sharedServer } from '../../support/shared-server.ts'

/** The result of a read and its expected content. */
interface ReadResult {
  what: string
  expected: Buffer
  data: Buffer
}

/** Sizes below and above those of Node's pooled buffers, of one read (64 KiB), and of separately allocated buffers. */
const SIZES = [1, 16, 100, 4000, 30_000, 65_400, 65_536, 70_000, 130_000, 400_000]

const contentOf = (size: number, turn: number): Buffer => Buffer.alloc(size, `${size}:${turn};`)

describe('data returned to the caller', () => {
  let clients: [Client, Client]
  before(async () => {
    const { connectString } = await sharedServer()
    const open = () => connect(connectString, { sessionTimeout: 10_000 })
    clients = [await open(), await open()]
    await clients[0].ensurePath('/buffer-ownership')
    for (const size of SIZES) await clients[0].create(`/buffer-ownership/${size}`, contentOf(size, 0))
  })
  after(async () => {
    await clients[0].deleteRecursive('/buffer-ownership')
    await Promise.all(clients.map(client => client.close()))
  })

  it('does not change when any client reads other data later', async () => {
    const passwords = clients.map(({ sessionPassword }) => sessionPassword)
    const results: ReadResult[] = []
    const check = (what: string, expected: Buffer, data: Buffer | null) => {
      expect(data?.equals(expected), `${what}, when it arrived`).to.equal(true)
      results.push({ what, expected, data: data as Buffer })
    }
    for (let turn = 0; turn < 3; turn++) {
      for (const client of clients) {
        // Many replies in one chunk, then each reply alone.
        const all = await Promise.all(SIZES.map(size => client.getData(`/buffer-ownership/${size}`)))
        for (const [i, size] of SIZES.entries()) {
          check(`${size} bytes among others`, contentOf(size, turn), all[i]?.data ?? null)
          const { data } = await client.getData(`/buffer-ownership/${size}`)
          check(`${size} bytes alone`, contentOf(size, turn), data)
        }
        const several = await client.multiRead(SIZES.map(size => ({ getData: `/buffer-ownership/${size}` })))
        for (const [i, result] of several.entries()) {
          const size = SIZES[i] as number
          check(`${size} bytes of a multiRead`, contentOf(size, turn), 'data' in result ? result.data : null)
        }
      }
      await Promise.all(SIZES.map(size => clients[0].setData(`/buffer-ownership/${size}`, contentOf(size, turn + 1))))
      await clients[1].sync('/buffer-ownership')
    }
    for (const { what, expected, data } of results) expect(data.equals(expected), what).to.equal(true)
    expect(clients.map(({ sessionPassword }) => sessionPassword)).to.deep.equal(passwords)
  })

  it('belongs to the caller: writing to it changes the data of no other caller', async () => {
    const path = '/buffer-ownership/400000'
    const { data: expected } = await clients[1].getData(path)
    const copy = Buffer.from(expected as Buffer)
    const [first, second] = await Promise.all([clients[0].getData(path), clients[0].getData(path)])
    first.data?.fill(0xee)
    expect(second.data?.equals(copy)).to.equal(true)
    expect(expected?.equals(copy)).to.equal(true)
  })
})
