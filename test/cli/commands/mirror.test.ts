// `zkwire diff` and `zkwire import --mirror` in this process.
import { expect } from 'chai'
import { connect, perms, type Client } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process,', () => {
  let server: Server
  let zk: Client
  let run: Starters['run']

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ run } = await inProcess(server))
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  const line = (path: string, more: object = {}) => `${JSON.stringify({ path, ...more })}\n`
  const create = async (...paths: string[]) => {
    for (const path of paths) await zk.create(path, 'old')
  }
  const namesAt = (path: string) => [...server.snapshot().nodes.keys()].filter(each => each.startsWith(path)).toSorted()

  describe('zkwire diff', () => {
    it('prints what only one side has, and what differs, by the paths of the first', async () => {
      await create('/a', '/a/data', '/a/acl', '/a/first', '/a/same')
      await create('/b', '/b/data', '/b/acl', '/b/second', '/b/same')
      await zk.setData('/b/data', 'new')
      await zk.setACL('/b/acl', [{ perms: perms.read | perms.admin, id: { scheme: 'world', id: 'anyone' } }])
      await zk.create('/b/ephemeral', '', { mode: 'ephemeral' })
      const { status, out, err } = await run(['diff', '/a', '/b'])
      expect(out).to.equal('~  /a/acl  acl\n~  /a/data  data\n-  /a/first\n+  /a/second\n')
      expect([status, err]).to.deep.equal([1, ''])
      expect(JSON.parse((await run(['diff', '/b/data', '/a/data', '--json'])).out)).to.deep.equal([
        { path: '/b/data', is: '~', fields: ['data'] },
      ])
    })

    it('finds no difference to an export of the subtree, also of null and of bytes', async () => {
      await create('/a')
      await zk.create('/a/null', null)
      await zk.create('/a/empty', '')
      await zk.create('/a/bytes', Uint8Array.of(0xff, 0))
      const { out } = await run(['export', '/a'])
      expect(await run(['diff', '/a', '--file', '-'], { input: [out] })).to.deep.equal({ status: 0, out: '', err: '' })
      await zk.setData('/a/empty', null)
      const { out: differences } = await run(['diff', '/a', '--file', '-'], { input: [out] })
      expect(differences).to.equal('~  /a/empty  data\n')
    })

    it('says that nodes cannot be read', async () => {
      await create('/a', '/b')
      await zk.create('/a/private', '', { acl: [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }] })
      const { status, err } = await run(['diff', '/a', '/b'])
      expect([status, err]).to.deep.equal([0, 'zkwire diff: 1 nodes cannot be read, and are not compared\n'])
    })

    it('does not compare what one side cannot read, although the other can', async () => {
      await create('/a', '/a/b', '/a/b/c', '/b', '/b/b', '/b/b/c')
      await zk.setACL('/a/b', [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }])
      const err = 'zkwire diff: 1 nodes cannot be read, and are not compared\n'
      expect(await run(['diff', '/a', '/b'])).to.deep.equal({ status: 0, out: '', err })
      expect(await run(['diff', '/b', '/a'])).to.deep.equal({ status: 0, out: '', err })
      const { out } = await run(['export', '/a'])
      expect(await run(['diff', '/b', '--file', '-'], { input: [out] })).to.deep.equal({ status: 0, out: '', err })
    })

    it('refuses with 64 a part of an export, and prints no difference', async () => {
      await create('/a', '/a/b', '/a/c')
      const lines = (await run(['export', '/a'])).out.split('\n')
      const { status, out, err } = await run(['diff', '/a', '--file', '-'], { input: [lines.slice(0, 2).join('\n')] })
      expect(err).to.contain('the input may be a part of an export: it lacks the last line, {"nodes":2}')
      expect([status, out]).to.deep.equal([64, ''])
    })

    it('refuses with 64 too little, too much, and a missing file', async () => {
      for (const [args, message] of [
        [['/a'], 'there is nothing to compare with: give OTHER, --with or --file'],
        [['/a', '/b', '--file', 'x'], '--file excludes --with and OTHER'],
        [['/', '--file', '/missing'], '--file: cannot read /missing (ENOENT)'],
      ] as const) {
        const { status, err } = await run(['diff', ...args])
        expect(err).to.contain(message)
        expect(status).to.equal(64)
      }
    })
  })

  describe('zkwire import --mirror', () => {
    const importOf = (input: string, ...args: string[]) => run(['import', '--mirror', ...args], { input: [input] })
    const end = (nodes: number) => `{"nodes":${nodes}}\n`
    /** Imports lines, as of a whole export. */
    const mirror = (input: string, ...args: string[]) => importOf(input + end(input.split('\n').length - 1), ...args)

    it('overwrites, and deletes the nodes below the first one that the input lacks, and no others', async () => {
      await create('/a', '/a/b', '/a/b/c', '/a/d', '/ab', '/other')
      const { status, out } = await mirror(line('/a', { data: 'new' }) + line('/a/d', { data: 'new' }) + line('/a/e'))
      expect([status, out]).to.deep.equal([0, 'create 1, overwrite 2, skip 0, remove 2, keep 0\n'])
      expect(namesAt('/a')).to.deep.equal(['/a', '/a/d', '/a/e', '/ab'])
      expect(String((await zk.getData('/a')).data)).to.equal('new')
    })

    it('writes nothing with --dry-run, also if the first node would be created', async () => {
      await create('/a', '/a/b')
      const before = namesAt('/')
      expect((await mirror(line('/a'), '-n')).out).to.equal(
        'would create 0, overwrite 1, skip 0, remove 1, keep 0, refuse 0\n',
      )
      expect((await mirror(line('/new'), '-n')).out).to.equal(
        'would create 1, overwrite 0, skip 0, remove 0, keep 0, refuse 0\n',
      )
      expect(namesAt('/')).to.deep.equal(before)
    })

    it('keeps ephemeral and unreadable nodes, and the nodes above them', async () => {
      await create('/a', '/a/live', '/a/live/deep', '/a/gone', '/a/shut')
      await zk.create('/a/live/deep/ephemeral', '', { mode: 'ephemeral' })
      await zk.create('/a/shut/private', '', { acl: [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }] })
      const { status, out } = await mirror(line('/a'))
      expect([status, out]).to.deep.equal([0, 'create 0, overwrite 1, skip 0, remove 1, keep 5\n'])
      expect(namesAt('/a')).not.to.include('/a/gone')
    })

    it('keeps a node that another client changes, or gives a child, before it is deleted', async () => {
      await create('/a', '/a/b', '/a/c')
      server.faults.replace('delete', 'BADVERSION')
      server.faults.replace('delete', 'NOTEMPTY', { nth: 2 })
      expect((await mirror(line('/a'))).out).to.equal('create 0, overwrite 1, skip 0, remove 0, keep 2\n')
    })

    describe('deletes nothing, and ends with 64,', () => {
      const lines = ['/a', '/a/b', '/a/c'].map(path => line(path))
      for (const [what, input, problem] of [
        ['if the last line is missing', lines.slice(0, 2).join(''), 'it lacks the last line, {"nodes":2}'],
        ['if the input is cut within the last line', `${lines.join('')}{"nod`, 'line 4 of the input: it is no JSON'],
        ['if lines are missing', lines.slice(0, 2).join('') + end(3), 'it has 2 of its 3 nodes'],
        ['if lines follow the last one', line('/a') + end(1) + line('/a/b'), 'it lacks the last line, {"nodes":2}'],
        ['if two exports follow each other', line('/a') + end(1) + line('/a/b') + end(1), 'it has 2 of its 1 nodes'],
        ['if an export without nodes has failed', '', 'the input is empty'],
      ] as const)
        it(what, async () => {
          await create('/a', '/a/b', '/a/c', '/a/d')
          const before = namesAt('/a')
          const { status, err, out } = await importOf(input)
          expect(err).to.contain(problem)
          expect([status, out]).to.deep.equal([64, ''])
          expect(namesAt('/a')).to.deep.equal(before)
        })

      it('if the export failed half way', async () => {
        await create('/a', '/a/b', '/a/c', '/a/d')
        const before = namesAt('/a')
        server.faults.replace('getACL', 'SYSTEMERROR', { nth: 3 })
        const { status: failed, out } = await run(['export', '/a'])
        expect([failed, out]).to.deep.equal([1, out])
        expect((await importOf(out)).status).to.equal(64)
        expect(namesAt('/a')).to.deep.equal(before)
      })
    })

    it('keeps a node whose data another client changes after it was read', async () => {
      await create('/a', '/a/b')
      const read = server.faults.hold('getChildren', { nth: 2 })
      const mirroring = mirror(line('/a'))
      await read.triggered
      await zk.setData('/a/b', 'new')
      read.release()
      expect((await mirroring).out).to.equal('create 0, overwrite 1, skip 0, remove 0, keep 1\n')
      expect(String((await zk.getData('/a/b')).data)).to.equal('new')
    })

    it('keeps what the export could not read, and all below', async () => {
      await create('/a', '/a/b', '/a/b/c', '/a/b/d', '/a/e', '/copy', '/copy/b', '/copy/b/c', '/copy/b/d', '/copy/x')
      await zk.setACL('/a/b', [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }])
      const { out } = await run(['export', '/a'])
      expect(out.split('\n').at(-2)).to.equal('{"nodes":2,"unreadable":["/a/b"]}')
      expect((await importOf(out, '--to', '/copy')).out).to.equal('create 1, overwrite 1, skip 0, remove 1, keep 3\n')
      expect(namesAt('/copy')).to.deep.equal(['/copy', '/copy/b', '/copy/b/c', '/copy/b/d', '/copy/e'])
    })

    it('refuses --part, because a part does not say what to delete', async () => {
      expect((await mirror(line('/a'), '--part')).err).to.contain('--part and --mirror exclude each other')
    })

    it('deletes nothing if a line of the input is malformed, and says how to continue', async () => {
      await create('/a', '/a/b')
      const { status, err } = await mirror(`${line('/a')}broken\n`)
      expect(err).to.match(/^zkwire import: line 2 of the input: it is no JSON object/)
      expect(status).to.equal(64)
      expect(namesAt('/a')).to.deep.equal(['/a', '/a/b'])
    })

    it('refuses an empty input, the root of the server, and another rule for nodes that exist', async () => {
      await create('/a')
      for (const [input, args, message] of [
        ['', [], '--mirror: the input is empty, so it does not say what to keep'],
        [line('/'), [], '--mirror does not delete what is below /'],
        [line('/a'), ['--to', '/'], '--mirror does not delete what is below /'],
        [line('/a'), ['--skip'], '--skip and --mirror exclude each other'],
      ] as const) {
        const { status, err } = await mirror(input, ...args)
        expect(err).to.contain(message)
        expect(status).to.equal(64)
      }
      expect(namesAt('/a')).to.deep.equal(['/a'])
    })
  })
})
