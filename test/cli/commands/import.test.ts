// `zkwire import` in this process: its input in any chunks, and imports that break off.
import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { connect, perms, type Client } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { until } from '../../../environment/until.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process, zkwire import', () => {
  let server: Server
  let zk: Client
  let run: Starters['run']
  let start: Starters['start']

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ run, start } = await inProcess(server))
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  const line = (path: string, more: object = {}) => `${JSON.stringify({ path, ...more })}\n`
  const end = (nodes: number) => `{"nodes":${nodes}}\n`
  const big = 'x'.repeat(300_000)
  const dataOf = async (path: string) => String((await zk.getData(path)).data)
  const aclOf = async (path: string) => (await zk.getACL(path)).acl.map(each => each.perms)

  it('reads characters whose bytes come in several chunks', async () => {
    const input = Array.from(Buffer.from(line('/ä', { data: 'grüße €😀' }) + end(1)), byte => Uint8Array.of(byte))
    expect((await run(['import'], { input })).status).to.equal(0)
    expect(await dataOf('/ä')).to.equal('grüße €😀')
  })

  it('refuses input that is not UTF-8, and does not change its bytes', async () => {
    const input = [Buffer.from(line('/a', { data: 'gr\u00fc\u00dfe' }), 'latin1')]
    const { status, err } = await run(['import'], { input })
    expect(err).to.equal(
      'zkwire import: the input is not UTF-8: zkwire export writes bytes that are no text as hex (see zkwire help import)\n',
    )
    expect(status).to.equal(64)
    expect(await zk.exists('/a')).to.equal(null)
  })

  it('refuses input that ends within a character', async () => {
    const input = [line('/a'), end(1), Buffer.from('€').subarray(0, 2)]
    const { status, err } = await run(['import'], { input })
    expect(err).to.include('the input is not UTF-8')
    expect(status).to.equal(64)
  })

  it('refuses a line without an end, before it fills the memory', async () => {
    let taken = 0
    const input = (function* () {
      for (; taken < 100; taken++) yield 'x'.repeat(4 * 1024 * 1024)
    })()
    const { status, err } = await run(['import'], { input })
    expect(err).to.match(/^zkwire import: the input has a line that is too long for a node /)
    expect(status).to.equal(64)
    expect(taken).to.be.lessThan(30)
  })

  describe('that breaks off, says how to continue', () => {
    it('with --skip if it created nodes', async () => {
      const input = [line('/a', { data: big }), line('/a/b', { data: big }), 'broken\n']
      const { status, err } = await run(['import'], { input })
      expect(err).to.match(
        /^zkwire import: line 3 of the input: it is no JSON object; 1 nodes, up to line 1, are imported; run it again with --skip to continue\n$/,
      )
      expect(status).to.equal(64)
    })

    it('with --overwrite if it overwrote nodes, and then replaces all of them', async () => {
      const paths = ['/a', '/a/b', '/a/c']
      for (const path of paths) await zk.create(path, 'old')
      const lines = paths.map(path => line(path, { data: `new${big}` }))
      const broken = await run(['import', '--overwrite'], { input: [lines[0] ?? '', lines[1] ?? '', 'broken\n'] })
      expect(broken.err).to.match(/1 nodes, up to line 1, are imported; run it again with --overwrite to continue\n$/)
      expect(await dataOf('/a/c')).to.equal('old')
      const again = await run(['import', '--overwrite'], { input: [...lines, end(3)] })
      expect([again.status, again.out]).to.deep.equal([0, 'create 0, overwrite 3, skip 0\n'])
      for (const path of paths) expect(await dataOf(path)).to.equal(`new${big}`)
    })

    it('with the lines whose ACLs may not be set', async () => {
      for (const path of ['/a', '/a/b']) await zk.create(path, 'old')
      server.faults.replace('setACL', 'NOAUTH', { nth: 2 })
      const acl = ['world:anyone:rwa']
      const input = [line('/a', { data: 'new', acl }), line('/a/b', { data: 'new', acl }), end(2)]
      const broken = await run(['import', '--overwrite'], { input })
      expect(broken.err).to.match(
        /^zkwire import: NOAUTH: .*; of the lines 1 to 2, the data is imported, and perhaps not all ACLs; run it again with --overwrite to continue\n$/,
      )
      expect(broken.status).to.equal(1)
      expect(await dataOf('/a/b')).to.equal('new')
      expect((await run(['import', '--overwrite'], { input })).status).to.equal(0)
      const rwa = perms.read | perms.write | perms.admin
      expect([await aclOf('/a'), await aclOf('/a/b')]).to.deep.equal([[rwa], [rwa]])
    })

    it('when a signal ends it', async () => {
      const input = (async function* () {
        yield line('/a', { data: big })
        yield line('/a/b', { data: big })
        await new Promise(() => undefined)
      })()
      const importing = start(['import'], { input })
      await until(async () => (await zk.exists('/a')) !== null)
      importing.signals.deliver('SIGINT')
      const { status, err } = await importing.ended
      expect(err).to.equal(
        'zkwire import: interrupted; 1 nodes, up to line 1, are imported; run it again with --skip to continue\n',
      )
      expect(status).to.equal(130)
    })
  })

  describe('of what may be a part of an export', () => {
    for (const [what, more, found] of [
      ['the last line is missing', '', 'lacks the last line, {"nodes":2}'],
      ['its last line counts more nodes', end(3), 'has 2 of its 3 nodes'],
    ] as const) {
      const problem = `zkwire import: the input may be a part of an export: it ${found}`

      it(`imports it, and says so and ends with 64, if ${what}`, async () => {
        const { status, out, err } = await run(['import'], { input: [line('/a'), line('/a/b'), more] })
        expect(err).to.equal(`${problem}; 2 nodes, up to line 2, are imported; run it again with --skip to continue\n`)
        expect([status, out]).to.deep.equal([64, ''])
        expect(await zk.exists('/a/b')).not.to.equal(null)
      })

      it(`imports it with --part, and says so, if ${what}`, async () => {
        const { status, out, err } = await run(['import', '--part'], { input: [line('/a'), line('/a/b'), more] })
        expect([status, out, err]).to.deep.equal([0, 'create 2, overwrite 0, skip 0\n', `${problem}\n`])
      })
    }

    for (const [what, text, problem] of [
      ['a count', '{"nodes":"2"}', 'nodes must be the number of lines before the last one'],
      ['a path', '{"nodes":1,"unreadable":["b"]}', 'unreadable must be a list of paths'],
      ['a path elsewhere', '{"nodes":1,"unreadable":["/b"]}', '/b is not below the node of the first line, /a'],
      ['another field', '{"nodes":1,"path":"/a"}', 'there is no field "path"'],
    ] as const)
      it(`refuses a last line with ${what} that is wrong`, async () => {
        const { status, err } = await run(['import'], { input: [line('/a'), text] })
        expect(err).to.contain(`zkwire import: line 2 of the input: ${problem}`)
        expect(status).to.equal(64)
      })
  })

  describe('of the largest node that a server accepts', () => {
    const LIMIT = 1_048_575
    const HEADER = 8
    const pathBytes = 4 + '/a'.length

    /** Creates /a with so much data that there is room for `spare` bytes in a request with `more` bytes. */
    const importOfNode = async (more: number, spare: number) => {
      const data = 'x'.repeat(LIMIT - HEADER - pathBytes - more - 4 - spare)
      await zk.create('/a')
      await zk.setData('/a', data)
      const { out } = await run(['export', '/a'])
      await zk.delete('/a')
      return { data, input: [out] }
    }
    /** An ACL of one entry, and flags. */
    const CREATE = 4 + 4 + 4 + 'world'.length + 4 + 'anyone'.length + 4
    const VERSION = 4

    for (const [what, more] of [
      ['create', CREATE],
      ['setData', VERSION],
    ] as const)
      it(`creates a node that only a ${what} without other operations can write, and replaces it`, async () => {
        const { data, input } = await importOfNode(more, 0)
        expect(await run(['import'], { input })).to.include({ err: '', out: 'create 1, overwrite 0, skip 0\n' })
        expect((await zk.getData('/a')).data?.length).to.equal(data.length)
        const replaced = await run(['import', '--overwrite'], { input })
        expect(replaced).to.include({ err: '', out: 'create 0, overwrite 1, skip 0\n' })
      })

    it('leaves no empty node if its data cannot be written', async () => {
      const { input } = await importOfNode(VERSION, 0)
      server.faults.replace('setData', 'NOAUTH')
      const { status, err } = await run(['import'], { input })
      expect(err).to.match(/^zkwire import: NOAUTH: setData \/a: /)
      expect(status).to.equal(1)
      expect(await zk.exists('/a')).to.equal(null)
    })
  })

  describe('of a first batch that may be written,', () => {
    const lines = [line('/a'), line('/a/b'), end(2)]
    const hint = 'the lines 1 to 2 may be imported too; run it again with --skip to continue\n'

    it('says so and names --skip if the reply is lost', async () => {
      server.faults.drop('multi')
      const { status, err } = await run(['import'], { input: lines })
      expect(err)
        .to.match(/^zkwire import: CONNECTIONLOSS: /)
        .and.to.contain(hint)
      expect(status).to.equal(69)
      expect((await run(['import', '--skip'], { input: lines })).out).to.equal('create 0, overwrite 0, skip 2\n')
    })

    for (const [way, removed] of [
      ['--skip', ''],
      ['--overwrite', ''],
      ['--mirror', ', remove 0, keep 0'],
    ] as const)
      it(`counts the nodes of a lost reply as created with ${way}, although they then exist`, async () => {
        server.faults.drop('multi')
        const { err, out } = await run(['import', way], { input: lines })
        expect([err, out]).to.deep.equal(['', `create 2, overwrite 0, skip 0${removed}\n`])
      })

    it('says so and names --skip if a signal ends it', async () => {
      const multi = server.faults.delay('multi', 60_000)
      const importing = start(['import'], { input: lines })
      await multi.triggered
      importing.signals.deliver('SIGINT')
      await importing.ended
      expect(importing.err).to.equal(`zkwire import: interrupted; ${hint}`)
      multi.release()
    })

    it('does not say so if the server has refused it', async () => {
      server.faults.replace('multi', 'NOAUTH')
      expect((await run(['import'], { input: lines })).err).not.to.contain('may be imported')
    })
  })

  describe('of a file in another form says which, and how to convert it:', () => {
    const text = line('/a') + end(1)
    for (const [form, bytes, problem] of [
      ['gzip', gzipSync(text), 'the input is compressed: pass it through gunzip -c'],
      ['zstd', Buffer.from('28b52ffd0458', 'hex'), 'the input is compressed: pass it through zstd -dc'],
      ['xz', Buffer.from('fd377a585a00', 'hex'), 'the input is compressed: pass it through xz -dc'],
      ['bzip2', Buffer.from('BZh91AY'), 'the input is compressed: pass it through bzip2 -dc'],
      ['zip', Buffer.from('504b030414', 'hex'), 'the input is a zip archive: pass it through unzip -p'],
      ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), 'the input is UTF-16, as Windows PowerShell writes it'],
    ] as const)
      it(form, async () => {
        await zk.create('/a')
        for (const args of ['import', 'explain', 'diff /a --file -']) {
          const { status, err, out } = await run(args.split(' '), { input: Array.from(bytes, byte => Buffer.of(byte)) })
          expect(err).to.contain(problem)
          expect([status, out]).to.deep.equal([64, ''])
        }
      })

    it('and reads UTF-8 with a byte order mark', async () => {
      expect((await run(['import'], { input: [`\ufeff${text}`] })).status).to.equal(0)
    })
  })

  it('sets with --overwrite only the ACLs that differ', async () => {
    for (const path of ['/a', '/a/b']) await zk.create(path)
    const input = [line('/a'), line('/a/b', { acl: ['world:anyone:r'] }), end(2)]
    expect((await run(['import', '--overwrite'], { input })).status).to.equal(0)
    const { nodes } = server.snapshot()
    expect(['/a', '/a/b'].map(path => nodes.get(path)?.stat.aversion)).to.deep.equal([0, 1])
  })
})
