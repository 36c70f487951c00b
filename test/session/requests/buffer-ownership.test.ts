// Data that a client returns must never change, although all sockets read into the same memory again and again. Data that
// a caller hands in is that of the call, although the caller reuses its memory at once.
import { expect } from 'chai'
import {
  aclOf,
  connect,
  creatorAllACL,
  digest,
  openACL,
  readOnlyACL,
  supervise,
  type ACL,
  type Client,
  type MultiOp,
  type Transaction,
} from '../../../src/index.ts'
import { perms } from '../../../src/protocol/index.ts'
import { Server } from '../../../src/server/index.ts'
import { declaredCalls } from '../../support/public-names.ts'
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

describe('bytes and ACLs that a caller hands in', () => {
  let server: Server
  let zk: Client

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    await zk.create('/there')
  })
  afterEach(async () => {
    server.resume()
    await zk.close()
    await server.close()
  })

  /** What a caller reuses at once. */
  interface Owned {
    readonly bytes: Buffer
    readonly acl: ACL[]
  }
  const OURS = 'ann:ours'
  const digestAcl = () => [aclOf('digest', digest('ann', 'ours'), perms.all), aclOf('world', 'anyone')]

  /** The first word of a name is the declaration. Each call is made with a connection, and without one. */
  const calls: Record<string, (owned: Owned) => Promise<unknown>> = {
    'Client.create': ({ bytes, acl }) => zk.create('/a', bytes, { acl }),
    'Client.create with parents': ({ bytes, acl }) => zk.create('/x/a', bytes, { acl, parents: true }),
    'Client.setData': ({ bytes }) => zk.setData('/there', bytes),
    'Client.setACL': ({ acl }) => zk.setACL('/there', acl),
    'Client.ensurePath': ({ acl }) => zk.ensurePath('/y/z', { acl }),
    'Client.multi': ({ bytes, acl }) => {
      const op = { create: '/a', data: bytes as Buffer | string, acl }
      const ops: MultiOp[] = [op, { setData: '/there', data: bytes }]
      const done = zk.multi(ops)
      op.data = 'XXXXXXXX'
      ops.length = 0
      return done
    },
    'Transaction.create': ({ bytes, acl }) => later(zk.transaction().create('/a', bytes, { acl })),
    'Transaction.setData': ({ bytes }) => later(zk.transaction().setData('/there', bytes)),
    'Client.addAuth': ({ bytes }) => zk.addAuth('digest', bytes),
    connect: async ({ bytes }) => {
      const auth = [{ scheme: 'digest', auth: bytes }]
      const opening = connect(server.connectString, { dial: server.dial, auth })
      auth.length = 0
      await useOf(await opening)
    },
    'connect with a session': async ({ bytes }) => {
      const password = zk.sessionPassword
      const session = { id: zk.sessionId, password: password as Uint8Array }
      const opening = connect(server.connectString, { dial: server.dial, session })
      password.fill(bytes[0] as number)
      const other = await opening
      expect(other.sessionId).to.equal(zk.sessionId)
      await other.close()
    },
    supervise: ({ bytes }) =>
      supervise(server.connectString, { dial: server.dial, auth: [{ scheme: 'digest', auth: bytes }] }, async each => {
        await useOf(each, false)
      }),
  }
  /** Commits a transaction after its caller has reused what it has handed in. */
  const later = (transaction: Transaction) => Promise.resolve().then(() => transaction.commit())
  const useOf = async (each: Client, closes = true) => {
    await each.create('/used', '', { acl: creatorAllACL })
    if (closes) await each.close()
  }
  /** They open sessions of their own, and so wait for no connection of the client. */
  const opens = (name: string) => !name.includes('.')

  it('cannot change the constants that others use too', () => {
    for (const acl of [openACL, readOnlyACL, creatorAllACL]) {
      const [entry] = acl as [ACL]
      expect(() => (entry.id.id = 'bob')).to.throw(TypeError)
      expect(() => (entry.perms = 0)).to.throw(TypeError)
      expect(() => (acl as ACL[]).push(entry)).to.throw(TypeError)
    }
  })

  it('are tested here if the declaration of the call takes them', () => {
    const declared = declaredCalls(['src/index.ts']).filter(({ parameters, options }) =>
      [...parameters, ...options.values()].some(type => /\b(Data|ACL|Uint8Array)\b/.test(type)),
    )
    const names = declared
      .map(({ name }) => name)
      .filter(name => /^(Client|Transaction)\.|^(connect|supervise)$/.test(name))
    expect([...new Set(Object.keys(calls).map(name => name.split(' ')[0]))]).to.have.members([
      // Its parameter is generic.
      'Client.multi',
      ...names,
    ])
  }).timeout(60_000)

  for (const [name, call] of Object.entries(calls))
    for (const isSuspended of opens(name) ? [false] : [false, true])
      it(`are those of the call, however the caller reuses them: ${name}${isSuspended ? ' without a connection' : ''}`, async () => {
        if (isSuspended) {
          server.dropConnections()
          await new Promise(resolve => zk.on('state', resolve))
          expect(zk.state).to.equal('suspended')
        }
        const owned = { bytes: Buffer.from(OURS), acl: digestAcl() }
        const calling = call(owned)
        owned.bytes.fill('X')
        for (const each of owned.acl) each.id.id = 'XXXXXXXX'
        owned.acl.length = 0
        await calling
        if (name === 'Client.addAuth') await zk.create('/used', '', { acl: creatorAllACL })
        const nodes = [...server.snapshot().nodes.values()].map(
          ({ data, acl }) => `${String(data)} ${JSON.stringify(acl)}`,
        )
        expect(nodes.join()).not.to.contain('XXXX')
        if (name !== 'connect with a session')
          expect(nodes.join()).to.contain(
            /auth|connect|supervise|ACL|ensure/i.test(name) ? digest('ann', 'ours') : OURS,
          )
      })
})
