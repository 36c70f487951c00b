// The file that an embedded server starts from and ends in.
import { expect } from 'chai'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aclOf, connect, digest } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf } from '../support/settled.ts'
import { WireSession } from '../support/wire-session.ts'

describe('the data file of an embedded server', () => {
  let directory: string
  let dataFile: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'data-file-'))
    dataFile = join(directory, 'state.json')
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('carries nodes, sessions, zxid and sequence numbers to the next server', async () => {
    const first = await Server.start({ dataFile, extendedTypes: true })
    const zk = await connect(first.connectString)
    await zk.create('/text', 'größe', { acl: [aclOf('digest', digest('ann', 'secret')), aclOf('world', 'anyone', 3)] })
    await zk.setData('/text', 'two\nlines')
    await zk.create('/bytes', Buffer.from([0, 0xff]))
    await zk.multi([{ create: '/empty' }, { create: '/empty/a' }, { delete: '/empty/a' }])
    await zk.create('/e', '', { mode: 'ephemeral' })
    await zk.create('/c', '', { mode: 'container' })
    await zk.create('/t', '', { mode: 'persistentTTL', ttl: 10_000 })
    await zk.create('/s-', '', { mode: 'persistentSequential' })
    const { nodes, zxid } = first.snapshot()
    const { sessionId, password } = await WireSession.open(first)
    await first.close()
    await zk.close({ timeout: 0 })

    const second = await Server.start({ dataFile, extendedTypes: true })
    expect(second.snapshot().nodes).to.deep.equal(nodes)
    expect(second.snapshot().zxid).to.equal(zxid + 1n)
    const again = await WireSession.open(second, { sessionId, password, lastZxidSeen: zxid })
    expect(again.sessionId).to.equal(sessionId)
    again.drop()
    const other = await connect(second.connectString)
    expect((await other.create('/s-', '', { mode: 'persistentSequential' })).path).to.equal('/s-0000000007')
    await other.close()
    await second.close()
  })

  it('may begin with a byte order mark, as editors of Windows write it', async () => {
    await writeFile(dataFile, '\ufeff{"format": "zkwire-server-1", "nodes": [{"path": "/a"}]}')
    const server = await Server.start({ dataFile, listen: false })
    expect(server.snapshot().nodes.has('/a')).to.equal(true)
    await server.close()
  })

  it('expires a session of the file after its timeout, counted from the start', async () => {
    const clock = new VirtualClock()
    const first = await Server.start({ dataFile, listen: false, clock, tickTime: 1000 })
    const zk = await connect(first.connectString, { dial: first.dial, clock, sessionTimeout: 4000 })
    await zk.create('/e', '', { mode: 'ephemeral' })
    await first.close()
    await clock.until(zk.close({ timeout: 0 }))
    await clock.advance(100_000)
    const second = await Server.start({ dataFile, listen: false, clock, tickTime: 1000 })
    await clock.advance(3999)
    expect(second.snapshot().nodes.has('/e')).to.equal(true)
    await clock.advance(1001)
    expect(second.snapshot().nodes.has('/e')).to.equal(false)
    await second.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  it('is written as a whole, for its owner only, and not again by a second close()', async () => {
    const server = await Server.start({ dataFile, listen: false })
    await server.close()
    expect(await readdir(directory)).to.deep.equal(['state.json'])
    expect((await stat(dataFile)).mode & 0o777).to.equal(0o600)
    await rm(dataFile)
    await server.close()
    expect(await readdir(directory)).to.deep.equal([])
  })

  it('may be written by hand, with the paths and data only', async () => {
    const nodes = [{ path: '/a', data: 'x' }, { path: '/a/b' }, { path: '/a/n', data: null }]
    await writeFile(dataFile, JSON.stringify({ format: 'zkwire-server-1', nodes }))
    const clock = new VirtualClock()
    await using server = await Server.start({ dataFile, listen: false, clock })
    const found = server.snapshot().nodes
    expect([...found.keys()]).to.deep.equal(['/', '/a', '/a/b', '/a/n'])
    expect(found.get('/a')?.data?.toString()).to.equal('x')
    expect(found.get('/a')?.stat).to.include({
      version: 0,
      cversion: 2,
      numChildren: 2,
      czxid: 0n,
      ctime: clock.wallNow(),
    })
    expect(found.get('/a/n')?.data).to.equal(null)
    expect(found.get('/a')?.acl).to.deep.equal([aclOf('world', 'anyone')])
    expect(server.snapshot().zxid).to.equal(0n)
  })

  it('starts with a number after the zxid of each node', async () => {
    const nodes = [{ path: '/a', czxid: '0x5', mzxid: '0x10' }]
    await writeFile(dataFile, JSON.stringify({ format: 'zkwire-server-1', zxid: '0x9', nodes }))
    await using server = await Server.start({ dataFile, listen: false })
    expect(server.snapshot().zxid).to.equal(16n)
  })

  const state = (fields: object) => JSON.stringify({ format: 'zkwire-server-1', nodes: [], ...fields })
  const wrong: Record<string, [text: string, message: RegExp]> = {
    'is not JSON': ['{"form', /JSON/],
    'has another format': [state({ format: 'x' }), /the state: format must be 'zkwire-server-1', not a string/],
    'has no nodes': ['{"format":"zkwire-server-1"}', /the state: nodes is missing/],
    'has a node without a path': [state({ nodes: [{}] }), /nodes\[0\]: path is missing/],
    'has a node with a wrong path': [state({ nodes: [{ path: '/a/' }] }), /nodes\[0\]: path .*/],
    'has a misspelt field': [state({ nodes: [{ path: '/a', dta: 'x' }] }), /nodes\[0\]: .*'dta'; did you mean 'data'/],
    'has a child before its parent': [
      state({ nodes: [{ path: '/a/b' }] }),
      /nodes\[0\]: the parent of \/a\/b must come/,
    ],
    'has a node twice': [state({ nodes: [{ path: '/a' }, { path: '/a' }] }), /nodes\[1\]: the node \/a exists already/],
    'has an ephemeral node without its session': [
      state({ nodes: [{ path: '/a', ephemeralOwner: '0x1' }] }),
      /nodes\[0\]: there is no session 0x1/,
    ],
    'has a wrong zxid': [state({ zxid: 5 }), /the state: zxid must be a string such as '0x1f', not 5/],
    'has a wrong ACL': [
      state({ nodes: [{ path: '/a', acl: [{ perms: 31 }] }] }),
      /nodes\[0\].acl\[0\]: scheme is missing/,
    ],
  }
  for (const [title, [text, message]] of Object.entries(wrong))
    it(`is refused if it ${title}`, async () => {
      await writeFile(dataFile, text)
      const error = await failureOf(Server.start({ dataFile }))
      expect(error).to.have.property('code', 'BADARGUMENTS')
      expect(String(error)).to.match(message).and.include(dataFile)
      expect(await readFile(dataFile, 'utf8'), 'and is not changed').to.equal(text)
    })

  it('makes start() or close() fail if it cannot be read or written', async () => {
    expect(await failureOf(Server.start({ dataFile: directory }))).to.have.property('code', 'EISDIR')
    const server = await Server.start({ dataFile: join(directory, 'missing', 'state.json'), listen: false })
    expect(await failureOf(server.close())).to.have.property('code', 'ENOENT')
  })
})
