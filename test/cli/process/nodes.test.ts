// The commands of nodes and watches, as processes.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { until } from '../../../environment/until.ts'
import { jsonOf, onBothServers, Program, zkwire } from './program.ts'

onBothServers('zkwire', server => {
  let zk: Client
  let root = ''
  let run = 0
  before(async () => {
    zk = await connect(server.connectString)
  })
  after(() => zk.close())
  beforeEach(async () => {
    root = `/cli-nodes-${process.pid}-${++run}`
    await zk.create(root, 'root')
  })
  afterEach(() => zk.deleteRecursive(root))

  const env = () => ({ ZKWIRE_SERVER: `${server.connectString}${root}` })
  const ok = async (args: string[], input?: string | Uint8Array) => {
    const { status, out, err } = await zkwire(args, { env: env(), ...(input === undefined ? {} : { input }) })
    expect([status, err], args.join(' ')).to.deep.equal([0, ''])
    return out
  }
  const refused = async (args: string[], status = 1) => {
    const ended = await zkwire(args, { env: env() })
    expect([ended.status, ended.out], ended.err).to.deep.equal([status, ''])
    return ended.err
  }
  const json = (args: string[]) => jsonOf(args, { env: env() })
  /** A command that runs until it is stopped. */
  const start = (args: string[]) => new Program(args, { env: env() })

  describe('create and get', () => {
    it('write and print text, with a line break at the end', async () => {
      expect(await ok(['create', '/a', 'blue'])).to.equal('/a\n')
      expect(await ok(['get', '/a'])).to.equal('blue\n')
      expect(await json(['get', '/a'])).to.deep.include({ path: '/a', data: 'blue' })
    })

    it('write the bytes of stdin, and print bytes that are no UTF-8 as hex, or as they are with --raw', async () => {
      const bytes = Buffer.from([0xff, 0, 10])
      await ok(['create', '/bytes', '-'], bytes)
      expect((await zk.getData(`${root}/bytes`)).data).to.deep.equal(bytes)
      expect(await ok(['get', '/bytes'])).to.equal('ff000a\n')
      expect(await json(['get', '/bytes'])).to.deep.include({ hex: 'ff000a' })
      const raw = new Program(['get', '-r', '/bytes'], { env: env() })
      await raw.ended
      expect(raw.bytes).to.deep.equal(bytes)
    })

    it('escape control characters, which could change a terminal, but keep line breaks', async () => {
      await zk.create(`${root}/escape`, '\u001b[2J\u009b1\ttab\nline')
      expect(await ok(['get', '/escape'])).to.equal('\\u001b[2J\\u009b1\ttab\nline\n')
    })

    it('create sequential nodes, containers, missing parents, and nodes with an ACL', async () => {
      expect(await ok(['create', '-s', '/job-'])).to.equal('/job-0000000000\n')
      await ok(['create', '-p', '/x/y/z'])
      expect(await ok(['create', '--sequential', '/x/', 'slash'])).to.match(/^\/x\/\d{10}\n$/)
      await ok(['create', '--container', '/c'])
      await ok(['create', '--acl', 'world:anyone:cdr', '/acl'])
      expect((await zk.getACL(`${root}/acl`)).acl).to.deep.equal([{ perms: 13, id: { scheme: 'world', id: 'anyone' } }])
    })

    it('keep an ephemeral node until Ctrl-C, and leave none', async () => {
      const program = start(['create', '-e', '/here'])
      await until(() => program.out === '/here\n')
      expect(await zk.exists(`${root}/here`)).not.to.equal(null)
      program.kill('SIGINT')
      expect((await program.ended).status).to.equal(130)
      expect(await zk.exists(`${root}/here`)).to.equal(null)
    })

    it('print the data again after each change with --watch, also when the node is deleted and created', async () => {
      await zk.create(`${root}/w`, '1')
      const program = start(['get', '--watch', '/w'])
      await until(() => program.out === '1\n')
      await zk.setData(`${root}/w`, '2')
      await until(() => program.out === '1\n2\n')
      await zk.delete(`${root}/w`)
      await until(() => program.err === 'zkwire get: there is no node /w\n')
      await zk.create(`${root}/w`, '3')
      await until(() => program.out === '1\n2\n3\n')
      program.kill('SIGTERM')
      expect((await program.ended).status).to.equal(143)
    })

    it('are refused with the code of the server', async () => {
      expect(await refused(['create', '/no/parent'])).to.match(/^zkwire create: NONODE: create \/no\/parent: /)
      expect(await refused(['create', '-e', '-c', '/x'], 64)).to.match(/--ephemeral and --container exclude each other/)
    })
  })

  describe('set', () => {
    it('replaces the data, by its version if it is given', async () => {
      await ok(['set', '/', '@@at'])
      expect(String((await zk.getData(root)).data)).to.equal('@at')
      expect(await refused(['set', '/', 'x', '--version', '7'])).to.match(/^zkwire set: BADVERSION: /)
      await ok(['set', '/', 'x', '--version', '1'])
    })
  })

  describe('ls, stat and du', () => {
    beforeEach(async () => {
      for (const path of ['/b', '/a', '/a/deep']) await zk.create(root + path, path)
      await zk.create(`${root}/a/e`, '', { mode: 'ephemeral' })
    })

    it('list children, long, and recursively', async () => {
      expect(await ok(['ls'])).to.equal('a\nb\n')
      expect(await ok(['ls', '/a/'])).to.equal('deep\ne\n')
      expect(await ok(['ls', '-R'])).to.equal('/a\n/a/deep\n/a/e\n/b\n')
      const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
      expect((await ok(['ls', '-l', '/a'])).replaceAll(time, 'T')).to.equal('-  v0  7  0  T  deep\ne  v0  0  0  T  e\n')
      expect((await ok(['ls', '-lR', '/a'])).replaceAll(time, 'T')).to.equal(
        '-  v0  7  0  T  /a/deep\ne  v0  0  0  T  /a/e\n',
      )
      expect(await json(['ls'])).to.deep.equal(['a', 'b'])
      expect(await refused(['ls', '/missing'])).to.match(/NONODE/)
    })

    it('print the Stat', async () => {
      expect(await ok(['stat', '/a'])).to.match(/^czxid {11}= 0x[^]*dataLength {6}= 2\nnumChildren {5}= 2\n$/)
      expect(await json(['stat', '/a'])).to.have.nested.property('stat.numChildren', 2)
      expect(await refused(['stat', '/missing'])).to.match(/^zkwire stat: NONODE: /)
    })

    it('count nodes, bytes and ephemeral nodes', async () => {
      expect(await ok(['du'])).to.equal(
        'nodes  bytes  ephemeral  path\n    3      9          1  /a\n    1      2          0  /b\n    5     15          1  /\n',
      )
      expect(await json(['du', '/a'])).to.deep.include({ path: '/a', nodes: 3, bytes: 9, ephemerals: 1 })
    })

    it('print the quota of a node, with the counts of the server', async () => {
      const quota = `/zookeeper/quota${root}`
      await zk.ensurePath(quota)
      await zk.create(`${quota}/zookeeper_limits`, 'count=9,bytes=-1')
      await zk.create(`${quota}/zookeeper_stats`, 'count=1,bytes=2')
      const { out } = await zkwire(['du', '-s', root], {
        env: { ZKWIRE_SERVER: server.connectString },
      })
      await zk.deleteRecursive(quota)
      expect(out).to.match(/^quota {2}count=9,bytes=-1\ncounts count=\d+,bytes=\d+$/m)
    })
  })

  describe('rm', () => {
    it('deletes nodes, and subtrees with -r', async () => {
      await ok(['create', '-p', '/a/b/c'])
      expect(await refused(['rm', '/a'])).to.match(/^zkwire rm: NOTEMPTY: /)
      await ok(['rm', '/a/b/c', '/a/b'])
      await ok(['create', '/a/b'])
      await ok(['rm', '-r', '/a'])
      expect(await refused(['rm', '-r', '/a'])).to.match(/^zkwire rm: NONODE: /)
      await ok(['rm', '-rf', '/a'])
    })

    it('never deletes / or /zookeeper with -r, also through a chroot, and then deletes nothing', async () => {
      await ok(['create', '/a'])
      expect(await refused(['rm', '-r', '/a', '/'], 64)).to.match(/rm -r does not delete .*: name the nodes below it/)
      for (const [chroot, path] of [
        ['', '/'],
        ['', '/zookeeper'],
        ['', '/zookeeper/quota'],
        ['/zookeeper', '/quota'],
      ] as const) {
        const { status } = await zkwire(['rm', '-r', path], { env: { ZKWIRE_SERVER: server.connectString + chroot } })
        expect(status, chroot + path).to.equal(64)
      }
      expect(await ok(['ls'])).to.equal('a\n')
    })
  })

  it('acl prints and replaces the ACL', async () => {
    expect(await ok(['acl', '/'])).to.equal('world:anyone:cdrwa\n')
    expect(await ok(['acl', '/', 'world:anyone:rwa', 'ip:10.0.0.0/8:r'])).to.equal(
      'world:anyone:rwa\nip:10.0.0.0/8:r\n',
    )
    expect(await refused(['acl', '/', 'open', '--version', '9'])).to.match(/BADVERSION/)
    expect(await refused(['acl', '/', 'nonsense'], 64)).to.match(/is no entry of an ACL: write scheme:id:cdrwa/)
    await ok(['acl', '/', 'open'])
  })

  it('sync waits for the server', async () => {
    expect(await ok(['sync'])).to.equal('')
  })

  it('watch prints events as they come, as text and as JSON', async () => {
    const text = start(['watch', '-r', '/'])
    const lines = start(['watch', '/', '--json'])
    await until(() => text.out.includes('watching  /\n') && lines.out.includes('"watching"'))
    await zk.create(`${root}/new`, '')
    await zk.setData(`${root}/new`, '1')
    await zk.delete(`${root}/new`)
    const events = () => text.out.split('\n').flatMap(line => /^\S+Z {2}(.*)$/.exec(line)?.[1] ?? [])
    await until(() => events().length === 4)
    expect(events()).to.deep.equal(['watching  /', 'NodeCreated  /new', 'NodeDataChanged  /new', 'NodeDeleted  /new'])
    await until(() => lines.out.split('\n').length === 4)
    const parsed = lines.out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string; path: string })
    expect(parsed.map(({ type }) => type)).to.deep.equal(['watching', 'NodeChildrenChanged', 'NodeChildrenChanged'])
    for (const program of [text, lines]) {
      program.kill('SIGINT')
      const { status, err } = await program.ended
      expect([status, err]).to.deep.equal([130, ''])
    }
  })
})
