// `zkwire export` and `zkwire import` as processes.
import { expect } from 'chai'
import { connect, digest, aclOf, perms, type ACL, type Client } from '../../../src/index.ts'
import { join, nameOf } from '../../../src/protocol/index.ts'
import { Server } from '../../../src/server/index.ts'
import { seed, seededRandom } from '../../support/seeded-random.ts'
import { jsonOf, onBothServers, zkwire } from './program.ts'

interface Node {
  data: string | undefined
  acl: readonly ACL[]
}

onBothServers('zkwire export and import', server => {
  let zk: Client
  let root = ''
  let run = 0
  before(async () => {
    zk = await connect(server.connectString, { auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
  })
  after(() => zk.close())
  beforeEach(async () => {
    root = `/cli-export-${process.pid}-${++run}`
    await zk.create(root)
  })
  afterEach(() => zk.deleteRecursive(root))

  const env = () => ({ ZKWIRE_SERVER: server.connectString + root, ZKWIRE_AUTH: 'digest:ann:secret' })
  const exported = async (path: string) => {
    const { status, out, err } = await zkwire(['export', path], { env: env() })
    expect(status, err).to.equal(0)
    return { lines: out, summary: err }
  }
  const imported = (lines: string, ...args: string[]) => zkwire(['import', ...args], { env: env(), input: lines })

  async function treeAt(path: string, name = ''): Promise<Map<string, Node>> {
    const [{ data }, { acl }, { children }] = await Promise.all([
      zk.getData(path),
      zk.getACL(path),
      zk.getChildren(path),
    ])
    const below = await Promise.all(children.toSorted().map(child => treeAt(join(path, child), `${name}/${child}`)))
    return new Map([[name, { data: data?.toString('hex'), acl }], ...below.flatMap(each => [...each])])
  }

  it(`copy data and ACLs byte for byte, in several batches (seed ${seed})`, async function () {
    this.timeout(60_000)
    const random = seededRandom(seed)
    const pick = (count: number) => Math.floor(random() * count)
    const paths = [`${root}/from`]
    const contents = [
      () => null,
      () => '',
      () => 'text\u2028 with "quotes"\r\n\u0000é€',
      () => '\ufeffbyte order mark',
      () => Buffer.from(Array.from({ length: pick(50) }, () => pick(256))),
      () => Buffer.alloc(pick(100_000), pick(256)),
    ]
    const acls: ACL[][] = [
      [aclOf('world', 'anyone')],
      [aclOf('world', 'anyone', perms.read), aclOf('digest', digest('ann', 'secret'))],
      [aclOf('ip', '127.0.0.1', perms.all), aclOf('ip', '10.0.0.0/8', perms.read)],
    ]
    await zk.create(`${root}/from`, 'from')
    for (let i = 0; i < 200; i++) {
      const parent = paths[pick(paths.length)] ?? ''
      const path = join(parent, `${i} ü`)
      await zk.create(path, (contents[pick(contents.length)] ?? (() => ''))(), { acl: acls[pick(3)] ?? [] })
      paths.push(path)
    }
    await zk.create(`${root}/from/large`, Buffer.alloc(900_000, 0xff))
    const { lines, summary } = await exported('/from')
    expect(summary).to.equal('zkwire export: 202 nodes of /from\n')
    const copy = await imported(lines, '--to', '/x/copy/')
    expect([copy.status, copy.out, copy.err]).to.deep.equal([0, 'create 202, overwrite 0, skip 0\n', ''])
    expect(await treeAt(`${root}/x/copy`)).to.deep.equal(await treeAt(`${root}/from`))
  })

  it('make a copy on another server that zkwire diff finds equal, and --mirror makes it so again', async () => {
    await using other = await Server.start()
    for (const name of ['/a', '/a/b', '/a/c']) await zk.create(root + name, nameOf(name))
    const { lines } = await exported('/a')
    const target = { env: { ZKWIRE_SERVER: other.connectString }, input: lines }
    expect((await zkwire(['import'], target)).status).to.equal(0)
    const diff = () => zkwire(['diff', '/a', '--with', other.connectString], { env: env() })
    expect(await diff()).to.include({ status: 0, out: '', err: '' })
    await using there = await connect(other.connectString)
    await there.setData('/a/b', 'changed')
    await there.create('/a/d', '')
    expect(await diff()).to.include({ status: 1, out: '~  /a/b  data\n+  /a/d\n' })
    expect((await zkwire(['import', '--mirror'], target)).out).to.equal(
      'create 0, overwrite 3, skip 0, remove 1, keep 0\n',
    )
    expect(await diff()).to.include({ status: 0, out: '' })
    // And in the other direction, onto the server under test.
    await zk.create(`${root}/a/c/d`, '')
    expect((await imported(lines, '--mirror')).out).to.equal('create 0, overwrite 3, skip 0, remove 1, keep 0\n')
    expect((await diff()).out).to.equal('')
  })

  it('leave out ephemeral and unreadable nodes and /zookeeper, and count them', async () => {
    await zk.create(`${root}/e`, '', { mode: 'ephemeral' })
    await zk.create(`${root}/private`, '', { acl: [aclOf('digest', digest('ann', 'secret'))] })
    await zk.create(`${root}/a`, '')
    const { out, err } = await zkwire(['export', '/'], { env: { ZKWIRE_SERVER: server.connectString + root } })
    const lines = out.trim().split('\n')
    expect(lines.slice(0, -1).map(line => (JSON.parse(line) as { path: string }).path)).to.deep.equal(['/', '/a'])
    expect(lines.at(-1)).to.equal('{"nodes":2,"unreadable":["/private"]}')
    expect(err).to.equal('zkwire export: 2 nodes of /; left out: 1 ephemeral, 1 unreadable\n')
    await zk.delete(`${root}/private`)
    const all = await zkwire(['export', '/'], { env: { ZKWIRE_SERVER: server.connectString } })
    expect(all.err).to.match(/left out: .*\/zookeeper/)
    expect(all.out).not.to.contain('"/zookeeper')
  })

  it('say that an ACL is hidden, and refuse to import it', async () => {
    const acl = [aclOf('world', 'anyone', perms.read), aclOf('digest', digest('ann', 'secret'))]
    await zk.create(`${root}/hidden`, '', { acl })
    const { out, err } = await zkwire(['export', '/hidden'], { env: { ZKWIRE_SERVER: server.connectString + root } })
    expect(err).to.contain('the ACLs of 1 nodes are hidden, and cannot be imported')
    const { status, err: refusal } = await imported(out, '--to', '/other')
    expect(refusal).to.match(
      /^zkwire import: line 1 of the input: its ACL was hidden from the session that exported it/,
    )
    expect(status).to.equal(64)
  })

  describe('for a node that exists,', () => {
    let lines: string
    beforeEach(async () => {
      for (const name of ['/a', '/a/b', '/a/c']) await zk.create(root + name, nameOf(name))
      lines = (await exported('/a')).lines
      await zk.delete(`${root}/a/b`)
      await zk.setData(`${root}/a/c`, 'changed')
    })
    const dataOf = async (path: string) => String((await zk.getData(root + path)).data)

    it('refuse by default, and then change nothing of the batch', async () => {
      const { status, out, err } = await imported(lines)
      expect(err).to.match(/^zkwire import: NODEEXISTS: import \/a: .*--skip .*--overwrite/)
      expect([status, out]).to.deep.equal([1, ''])
      expect(await zk.exists(`${root}/a/b`)).to.equal(null)
    })

    it('leave it with --skip, and replace it with --overwrite, with its ACL', async () => {
      expect((await imported(lines, '--skip')).out).to.equal('create 1, overwrite 0, skip 2\n')
      expect([await dataOf('/a/b'), await dataOf('/a/c')]).to.deep.equal(['b', 'changed'])
      await zk.setACL(`${root}/a/c`, [aclOf('world', 'anyone', perms.all ^ perms.create)])
      expect((await imported(lines, '--overwrite')).out).to.equal('create 0, overwrite 3, skip 0\n')
      expect(await dataOf('/a/c')).to.equal('c')
      expect((await zk.getACL(`${root}/a/c`)).acl).to.deep.equal([aclOf('world', 'anyone')])
    })

    it('write nothing with --dry-run, and say what would be done', async () => {
      const before = await treeAt(`${root}/a`)
      expect((await imported(lines, '-n')).out).to.equal('would create 1, overwrite 0, skip 0, refuse 2\n')
      expect((await imported(lines, '-n')).status).to.equal(1)
      const document = await jsonOf(['import', '-n', '--overwrite'], { env: env(), input: lines })
      expect(document).to.deep.equal({ create: 1, overwrite: 2, skip: 0, conflict: 0, dryRun: true })
      expect((await imported(lines, '-n', '--to', '/new')).out).to.equal(
        'would create 3, overwrite 0, skip 0, refuse 0\n',
      )
      expect(await treeAt(`${root}/a`)).to.deep.equal(before)
    })
  })

  for (const [line, problem] of [
    ['{"data":"x"}', 'the path is missing'],
    ['{"path":"a"}', 'a path must start with /'],
    ['{"path":"/a","hex":"abc"}', 'data must be a text or null, or hex a text of hexadecimal digits'],
    ['{"path":"/a","acl":["nobody"]}', 'acl must be a list of entries, as "world:anyone:cdrwa"'],
    ['{"path":"/a","dat":"x"}', 'there is no field "dat"'],
    ['{"path":"/a","kind":"ttl"}', 'the kind ttl, and no other, needs a number as ttl'],
  ] as const)
    it(`refuse the line ${line}`, async () => {
      const { status, err } = await imported(line)
      expect(err).to.contain(`line 1 of the input: ${problem}`)
      expect(status).to.equal(64)
    })

  it('refuse a line that is not below the first one, and nodes of the server', async () => {
    expect((await imported('{"path":"/a"}\n{"path":"/b"}')).err).to.contain(
      '/b is not below the node of the first line, /a',
    )
    const { status, err } = await zkwire(['import'], {
      env: { ZKWIRE_SERVER: server.connectString },
      input: '{"path":"/zookeeper/quota/x"}',
    })
    expect(err).to.contain('/zookeeper/quota/x belongs to the server')
    expect(status).to.equal(64)
  })
})
