// The commands of nodes and watches in this process: what their options do, units, exit statuses, and unreadable nodes.
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statuses, unknownCommand } from '../../../src/cli/runner/failure.ts'
import { ShellSession } from '../../../src/cli/shell/shell-session.ts'
import { lineOf, parseLine } from '../../../src/cli/nodes/exported-node.ts'
import { connect, openACL, perms, type Client } from '../../../src/index.ts'
import { Mutex, Queue, ReadWriteLock, Semaphore } from '../../../src/recipes/index.ts'
import { hex64 } from '../../../src/protocol/index.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Server } from '../../../src/server/index.ts'
import { until } from '../../../environment/until.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process, zkwire', () => {
  let server: Server
  let zk: Client
  let run: Starters['run']
  let start: Starters['start']

  beforeEach(async () => {
    server = await Server.start({ listen: false, extendedTypes: true })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ run, start } = await inProcess(server))
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  const ok = async (...args: string[]) => {
    const { status, out, err } = await run(args)
    expect([status, err], args.join(' ')).to.deep.equal([0, ''])
    return out
  }
  const kindOf = (path: string) => server.snapshot().nodes.get(path)?.kind
  /** A node that this session may not read. */
  const createPrivate = (path: string) =>
    zk.create(path, 'secret', { acl: [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }] })

  describe('create', () => {
    it('takes --ttl in seconds', async () => {
      await ok('create', '/a', '--ttl', '3')
      await ok('create', '/b', '--ttl', '0.0015')
      expect(kindOf('/a')).to.deep.equal({ is: 'ttl', ttl: 3000 })
      expect(kindOf('/b')).to.deep.equal({ is: 'ttl', ttl: 2 })
    })

    for (const [options, kind, path] of [
      [[], 'persistent', '/a'],
      [['-s'], 'persistent', '/a0000000000'],
      [['--container'], 'container', '/a'],
      [['--sequential', '--ttl', '1'], 'ttl', '/a0000000000'],
      [['--parents', '--acl', 'read'], 'persistent', '/a'],
    ] as const)
      it(`creates a node of the kind ${kind} with ${options.join(' ') || 'no option'}`, async () => {
        expect(await ok('create', '/a', ...options)).to.equal(`${path}\n`)
        expect(kindOf(path)?.is).to.equal(kind)
        const [entry] = server.snapshot().nodes.get(path)?.acl ?? []
        expect(entry?.perms).to.equal(options.some(each => each === '--acl') ? perms.read : perms.all)
      })

    for (const options of [
      ['-e', '-c'],
      ['-e', '--ttl', '1'],
      ['-c', '-s'],
      ['-c', '--ttl', '1'],
    ])
      it(`refuses ${options.join(' ')} with 64`, async () => {
        const { status, err } = await run(['create', '/a', ...options])
        expect([status, err]).to.deep.equal([64, err])
        expect(err).to.contain('exclude each other')
        expect(kindOf('/a')).to.equal(undefined)
      })
  })

  describe('rm', () => {
    it('deletes a node only in the version of --version', async () => {
      await zk.create('/a')
      await zk.setData('/a', 'x')
      const { status, err } = await run(['rm', '/a', '--version', '0'])
      expect(err).to.match(/^zkwire rm: BADVERSION: /)
      expect(status).to.equal(1)
      await ok('rm', '/a', '-v', '1')
      expect(await zk.exists('/a')).to.equal(null)
    })

    for (const system of ['/', '/zookeeper', '/zookeeper/config'])
      it(`deletes no node with -r if one of them is ${system}`, async () => {
        await zk.create('/a')
        expect(await run(['rm', '-r', '/a', system])).to.have.property('status', 64)
        expect(await zk.exists('/a')).not.to.equal(null)
      })

    it('needs a path', async () => {
      const { status, err } = await run(['rm'])
      expect([status, err]).to.deep.equal([64, 'zkwire rm: the argument PATH is missing (see zkwire help rm)\n'])
    })
  })

  it('prints no password of an address in a wrong place, or of a connect string of another program', async () => {
    for (const args of [
      ['get', 'zk://bob:secret@zk1/app'],
      ['get', 'bob:secret@zk1'],
      ['trace', '2182', 'zk://bob:secret@zk1:2181'],
      ['trace', 'bob:secret@zk1:2182', 'zk1'],
      ['doctor', '-s', 'zk://bob:secret@zk1:2181/app'],
      ['get', '/', '-s', 'zookeeper://bob:secret@zk1?backup=zk2'],
    ]) {
      const { status, err } = await run(args)
      expect(status, args.join(' ')).to.equal(64)
      expect(err).not.to.include('secret')
    }
    expect(unknownCommand('zk://bob:secret@zk1', []).message).not.to.include('secret')
  })

  describe('set and acl', () => {
    it('write only in the version of --version', async () => {
      await zk.create('/a')
      expect((await run(['set', '/a', 'x', '--version', '1'])).err).to.match(/BADVERSION/)
      await ok('set', '/a', 'x', '-v', '0')
      expect((await run(['acl', '/a', 'read', '--version', '1'])).err).to.match(/BADVERSION/)
      await ok('acl', '/a', 'read', 'world:anyone:a', '-v', '0')
      expect((await run(['acl', '/a', '--version', '1'])).status).to.equal(64)
    })

    it('takes a list with commas, as zkCli.sh, and so do create and import', async () => {
      const list = 'ip:127.0.0.1:cdrwa,world:anyone:r'
      await zk.create('/a')
      await ok('acl', '/a', list)
      await ok('create', '--acl', list, '/b')
      const line = `${JSON.stringify({ path: '/c', acl: [list] })}\n`
      expect(await run(['import', '--part'], { input: [line] })).to.include({ status: 0 })
      for (const path of ['/a', '/b', '/c'])
        expect((await zk.getACL(path)).acl).to.deep.equal([
          { perms: perms.all, id: { scheme: 'ip', id: '127.0.0.1' } },
          { perms: perms.read, id: { scheme: 'world', id: 'anyone' } },
        ])
    })

    it('exports and imports an entry whose text would be read as another one', () => {
      const acl = [{ perms: perms.read, id: { scheme: 'x509', id: 'bob:cdrwa,world:anyone' } }, ...openACL]
      expect(parseLine(lineOf({ path: '/odd', data: null, acl }))).to.deep.include({ acl })
    })

    it('refuses without --force an ACL that nobody could change again, or with an entry that grants nothing', async () => {
      await zk.create('/a')
      for (const args of [
        ['acl', '/a', 'world:anyone:r'],
        ['acl', '/a', 'world:anyone:cdrwa,world:anyone:'],
        ['acl', '/a', 'digest:bob:secret:cdrwa'],
        ['create', '/new', '--acl', 'digest:bob:secret:cdrwa'],
      ]) {
        const { status, err } = await run(args)
        expect(status, args.join(' ')).to.equal(64)
        expect(err).to.include('--force').and.not.include('secret')
      }
      expect(await zk.getACL('/a')).to.deep.include({ acl: openACL })
      const line = '{"path":"/c","acl":["digest:bob:secret:r"]}\n'
      expect((await run(['import', '--part'], { input: [line] })).err).to.match(/line 1 of the input: .*--force/)
      expect((await run(['import', '--part', '--force'], { input: [line] })).status).to.equal(0)
      await ok('create', '/new', '--acl', 'digest:bob:secret:cdrwa', '--force')
      await ok('acl', '/a', 'world:anyone:r', '--force')
    })

    it('acl succeeds with an ACL that the session may not read afterwards, and says so', async () => {
      await zk.create('/a')
      const { status, out, err } = await run(['acl', '/a', `digest:bob:${'A'.repeat(27)}=:cdrwa`])
      expect([status, out]).to.deep.equal([0, `digest:bob:${'A'.repeat(27)}=:cdrwa\n`])
      expect(err).to.match(/the ACL is set, and this session may not read it/)
      expect((await run(['acl', '/a'])).status).to.equal(1)
      expect((await run(['acl', '/a', 'open'])).status, 'the set itself').to.equal(1)
    })
  })

  it('set and create say how to raise the limit of a request, and do so', async () => {
    await zk.create('/a')
    const input = ['x'.repeat(4000)]
    for (const args of [
      ['set', '/a', '-'],
      ['create', '/b', '-'],
    ]) {
      const { status, err } = await run([...args, '--max-request', '3000'], { input })
      expect(err).to.match(/^zkwire \w+: REQUESTTOOLARGE: .* exceeds --max-request; /)
      expect(status).to.equal(1)
      expect((await run([...args, '--max-request', '5000'], { input })).status).to.equal(0)
    }
    expect((await run(['ls', '/', '--max-reply', '16M'])).err).to.contain('--max-reply: "16M" is not a whole number')
  })

  describe('ls', () => {
    it('-l shows a child that may not be read, and leaves out one that is gone', async () => {
      for (const path of ['/l', '/l/a', '/l/b', '/l/c']) await zk.create(path)
      const plan = () => {
        server.faults.replace('exists', 'NOAUTH')
        server.faults.replace('exists', 'NONODE', { nth: 2 })
      }
      plan()
      const lines = (await ok('ls', '-l', '/l')).trimEnd().split('\n')
      expect(lines.map(line => line.slice(0, 1)).sort()).to.deep.equal(['-', '?'])
      plan()
      const listed = JSON.parse(await ok('ls', '-l', '/l', '--json')) as { stat: unknown }[]
      expect(listed.filter(({ stat }) => stat === null)).to.have.length(listed.length - 1)
    })
  })

  describe('du', () => {
    it('counts a node that may not be read, and does not take it for an ephemeral one', async () => {
      await zk.create('/a')
      await createPrivate('/a/private')
      server.faults.replace('getChildren2', 'NOAUTH', { nth: 2 })
      const { out, err, status } = await run(['du', '/a', '--json'])
      expect(JSON.parse(out)).to.deep.include({ nodes: 2, ephemerals: 0, unreadable: 1 })
      expect(err).to.equal('zkwire du: 1 nodes cannot be read, and are counted without their children\n')
      expect(status).to.equal(0)
    })
  })

  describe('export', () => {
    it('exports a node of the server if it is asked for, and none otherwise', async () => {
      const { out } = await run(['export', '/zookeeper'])
      expect(out).to.match(/^\{"path":"\/zookeeper",.*\}\n\{"nodes":1\}\n$/)
      const { out: all, err } = await run(['export', '/'])
      expect(all).to.match(/^\{"path":"\/",.*\}\n\{"nodes":1\}\n$/)
      expect(err).to.equal('zkwire export: 1 nodes of /; left out: /zookeeper\n')
    })

    it('escapes each control character, so that a terminal may show it', async () => {
      await zk.create('/a\u202eb', '\u001b[2J\u009b1m\u007f')
      const { out } = await run(['export', '/a\u202eb'])
      expect(out.split('\n')[0]).to.equal(
        '{"path":"/a\\u202eb","data":"\\u001b[2J\\u009b1m\\u007f","acl":["world:anyone:cdrwa"]}',
      )
      expect((await run(['get', '/a\u202eb', '--json'])).out).to.contain('"data":"\\u001b[2J\\u009b1m\\u007f"')
    })
  })

  describe('get --watch --json', () => {
    it('prints a null stat while there is no node', async () => {
      const watching = start(['get', '--watch', '--json', '/a'])
      await until(() => watching.out === '{"path":"/a","stat":null}\n')
      await zk.create('/a', 'x')
      await until(() => watching.out.split('\n').length === 3)
      expect(JSON.parse(watching.out.split('\n')[1] ?? '')).to.deep.include({ path: '/a', data: 'x' })
      watching.signals.deliver('SIGINT')
      expect((await watching.ended).status).to.equal(130)
    })
  })

  describe('watch', () => {
    const types = (out: string) => out.split('\n').flatMap(line => / {2}(\w+) {2}/.exec(line)?.[1] ?? [])

    it('has one session, and goes on in a new one, with a line resync', async () => {
      const watching = start(['watch', '/a'])
      await until(() => types(watching.out).includes('watching'))
      await zk.create('/a')
      await until(() => types(watching.out).includes('NodeCreated'))
      const others = server.snapshot().sessions.filter(({ id }) => id !== zk.sessionId)
      expect(others).to.have.length(1)
      server.expireSession(others[0]?.id ?? 0n)
      await until(() => types(watching.out).includes('resync'))
      await zk.delete('/a')
      await until(() => types(watching.out).includes('NodeDeleted'))
      watching.signals.deliver('SIGTERM')
      expect((await watching.ended).status).to.equal(143)
      expect(types(watching.out)).to.deep.equal(['watching', 'NodeCreated', 'resync', 'NodeDeleted'])
    })

    it('goes on in the new session of a shell', async () => {
      const stop = new AbortController()
      const target = { servers: server.connectString, options: { dial: server.dial } }
      const shell = new ShellSession(target, stop.signal, () => undefined)
      const watching = start(['watch', '/a'], { shell })
      await until(() => types(watching.out).includes('watching'))
      server.expireSession((await shell.open()).sessionId)
      await until(() => types(watching.out).includes('resync'))
      watching.signals.deliver('SIGTERM')
      expect((await watching.ended).status).to.equal(143)
      await shell.close()
    })
  })

  describe('revoke', () => {
    it('asks each holder, and no waiter, and none of those that do not hold', async () => {
      const lock = new ReadWriteLock(zk, '/lock', { id: 'me' })
      await using one = await lock.readLock.acquire({ watchOwnNode: true })
      await using two = await lock.readLock.acquire({ watchOwnNode: true })
      const waiting = lock.writeLock.acquire({ watchOwnNode: true })
      await until(() => [...server.snapshot().nodes.keys()].filter(path => path.startsWith('/lock/')).length === 3)
      const asked = JSON.parse(await ok('revoke', '/lock', '--json')) as { done: string; node: string; id: string }[]
      expect(asked.map(({ node }) => node)).to.have.members([one.path, two.path])
      expect(asked.map(({ done, id }) => `${done} ${id}`)).to.deep.equal(['asked me', 'asked me'])
      await until(() => one.revoked.aborted && two.revoked.aborted)
      await Promise.all([one.release(), two.release()])
      const writer = await waiting
      expect([one.signal.aborted, writer.revoked.aborted]).to.deep.equal([false, false])
      await writer.release()
    })

    it('--force gives the lock to the next, and the signal of the holder aborts', async () => {
      const held = await new Mutex(zk, '/lock', { id: 'me' }).acquire({ watchOwnNode: true })
      const next = new Mutex(zk, '/lock').acquire()
      expect(await ok('revoke', '/lock', '--force')).to.match(/^deleted {2}0x\w+ {2}\/lock\/\S+ {2}me\n$/)
      const { token } = await next
      expect(token > held.token).to.equal(true)
      await until(() => held.signal.aborted)
      await (await next).release()
    })

    it('ends with 1 and changes nothing if nobody holds it, if it is no lock, and for the items of a queue', async () => {
      await new Mutex(zk, '/free').use(() => undefined)
      await zk.create('/folder/lock', '', { parents: true })
      await new Queue(zk, '/queue').put('x')
      const names = [...server.snapshot().nodes.keys()]
      for (const path of ['/free', '/folder', '/missing', '/queue/entries', '/queue'])
        for (const force of [[], ['--force']]) {
          const { status, err } = await run(['revoke', path, ...force])
          expect([status, err !== ''], path).to.deep.equal([1, true])
        }
      expect([...server.snapshot().nodes.keys()]).to.deep.equal(names)
    })
  })

  describe('who', () => {
    it('--follow leaves no watch of an earlier round', async () => {
      const following = start(['who', '--follow', '/lock'])
      await until(() => following.out === 'free\n\n')
      for (let i = 0; i < 5; i++) {
        const held = await new Mutex(zk, '/lock').acquire()
        await until(() => following.out.endsWith('\n\n') && /holds.*\n\n$/.test(following.out))
        await held.release()
        await until(() => following.out.endsWith('free\n\n'))
      }
      await until(() => server.snapshot().watches.length === 1)
      following.signals.deliver('SIGINT')
      await following.ended
    })

    it('--follow removes the watches on a semaphore that are left when another one has fired', async () => {
      await using _first = await new Semaphore(zk, '/semaphore', 2).acquire()
      const following = start(['who', '--follow', '/semaphore'])
      await until(() => following.out.includes('holds'))
      const session = server.snapshot().sessions.find(({ id }) => id !== zk.sessionId)?.id
      const removal = server.faults.delay('removeWatches', 0, { session })
      await using _second = await new Semaphore(zk, '/semaphore', 2).acquire()
      await removal.triggered
      following.signals.deliver('SIGINT')
      await following.ended
    })

    it('shows the holder of a permit once, although it is in the gate too', async () => {
      const path = '/semaphore'
      await using held = await new Semaphore(zk, path, 1).acquire()
      await zk.create(`${path}/locks/_c_01234567-89ab-4cde-8f01-23456789abcd-lock-`, 'gate', {
        mode: 'ephemeralSequential',
      })
      expect(JSON.parse(await ok('who', path, '--json')))
        .to.have.length(1)
        .and.have.nested.property('[0].node', held.path)
    })

    it('ends with 1 for a folder of locks, and names one of them', async () => {
      await using _held = await new Mutex(zk, '/locks/backup').acquire()
      const { status, out, err } = await run(['who', '/locks'])
      expect(err).to.equal(
        'zkwire who: /locks is no lock: its children, such as backup, are no contenders; for a lock below it, try /locks/backup\n',
      )
      expect([status, out]).to.deep.equal([1, ''])
    })
  })

  describe('who, of a folder that has the names of a semaphore,', () => {
    const folders: Readonly<Record<string, readonly string[]>> = {
      'whose only child is locks': ['/app/locks'],
      'with locks below locks': ['/app/locks/backup'],
      'with other nodes beside leases': ['/app/leases', '/app/orders'],
      'whose only child is leases': ['/app/leases'],
      'with a folder below leases': ['/app/leases/kept', '/app/locks'],
    }
    for (const [title, paths] of Object.entries(folders))
      it(`${title}, ends with 1`, async () => {
        for (const path of paths) await zk.create(path, '', { parents: true })
        const { status, out, err } = await run(['who', '/app'])
        expect(err).to.match(
          /^zkwire who: \/app is no lock: its children, such as (locks|leases|orders), are no contenders/,
        )
        expect([status, out]).to.deep.equal([1, ''])
      })

    it('with a lock that is called locks, names that, and -R finds it', async () => {
      await using _held = await new Mutex(zk, '/app/locks').acquire()
      expect((await run(['who', '/app'])).err).to.contain('try /app/locks\n')
      expect(await ok('who', '/app/locks')).to.match(/^holds/)
      expect(await ok('who', '-R', '/')).to.match(/^\/app\/locks /)
      await zk.create('/app/leases/kept', '', { parents: true })
      expect(await ok('who', '-R', '/')).to.match(/^\/app\/locks /)
    })

    it('is still told from a semaphore that is free', async () => {
      await (await new Semaphore(zk, '/semaphore', 2).acquire()).release()
      expect(await ok('who', '/semaphore')).to.equal('free\n')
      await using _held = await new Semaphore(zk, '/semaphore', 2).acquire()
      // The server deletes an empty container after some time.
      await zk.delete('/semaphore/locks')
      expect(await ok('who', '/semaphore')).to.match(/^holds/)
    })
  })

  describe('leader', () => {
    it('does not say that there is no leader of an election that it does not know', async () => {
      const others = {
        mesos: ['json.info_0000000001', 'json.info_0000000002', 'log_replicas'],
        kazoo: [`${'0'.repeat(32)}__lock__0000000001`],
      }
      for (const [name, children] of Object.entries(others)) {
        for (const child of children) await zk.create(`/${name}/${child}`, '', { parents: true })
        for (const options of [[], ['--json'], ['--follow']]) {
          const { status, out, err } = await run(['leader', `/${name}`, ...options])
          expect(err).to.contain(`/${name} is no election that zkwire knows: its children, such as `)
          expect([status, out]).to.deep.equal([1, ''])
        }
      }
    })

    it('says so of an election that has none', async () => {
      expect((await run(['leader', '/none'])).err).to.equal('zkwire leader: /none has no leader\n')
      await zk.create('/none')
      expect(await run(['leader', '--json', '/none'])).to.include({ status: 1, out: '{"leader":null}\n' })
    })
  })

  describe('who -R', () => {
    it('prints the holders of all locks below the node with their ages, and how many wait', async () => {
      await using reader = await new ReadWriteLock(zk, '/l/rw', { id: 'reader' }).readLock.acquire()
      await using permit = await new Semaphore(zk, '/l/semaphore', 2, { id: 'permit' }).acquire()
      await using mutex = await new Mutex(zk, '/l/deep/mutex', { id: 'mutex\u001b' }).acquire()
      const waiting = new AbortController()
      const waiters = [1, 2].map(() => new Mutex(zk, '/l/deep/mutex').acquire({ signal: waiting.signal }))
      await until(async () => (await zk.getChildren('/l/deep/mutex')).children.length === 3)
      // A queue of persistent items is no lock.
      await zk.create('/l/queue/entry-', 'item', { parents: true, mode: 'persistentSequential' })
      const holders = (await ok('who', '-R', '/l')).replaceAll(/ \d+ s /g, ' AGE ').replaceAll(/ +/g, ' ')
      const session = hex64(zk.sessionId)
      expect(holders).to.equal(
        `/l/deep/mutex AGE 2 wait ${session} mutex\\u001b\n` +
          `/l/rw AGE 0 wait ${session} reader\n/l/semaphore AGE 0 wait ${session} permit\n`,
      )
      const [lock] = JSON.parse(await ok('who', '-R', '/', '--json')) as { contenders: object[] }[]
      expect(lock).to.have.property('path', '/l/deep/mutex')
      expect(lock?.contenders[0]).to.include({ holds: true, node: mutex.path })
      waiting.abort()
      await Promise.allSettled(waiters)
      await Promise.all([reader, permit, mutex].map(held => held.release()))
      expect(await ok('who', '-R', '/l')).to.equal('no lock is in use\n')
    })

    it('prints an age in its largest unit, and none that is negative', async () => {
      await using _held = await new Mutex(zk, '/lock', { id: 'me' }).acquire()
      const ageAfter = async (ms: number) => {
        const clock = { ...systemClock, wallNow: () => systemClock.wallNow() + ms }
        return / {2}(\d+ \w+) {2}/.exec((await run(['who', '-R', '/'], { clock })).out)?.[1]
      }
      const ages = [-5000, 59_000, 61_000, 3_601_000, 86_401_000]
      expect(await Promise.all(ages.map(ageAfter))).to.deep.equal(['0 s', '59 s', '1 min', '1 h', '1 d'])
    })
  })

  describe('serve', () => {
    it('ends with the status of the import if it refuses a node of its seed', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'zkwire-seed-'))
      const seed = join(folder, 'seed.jsonl')
      await writeFile(seed, '{"path":"/a","acl":["digest:x:r"]}\n')
      const serving = start(['serve', '--port', '0', '--seed', seed])
      try {
        await until(() => serving.out + serving.err !== '')
        expect(serving.out).to.equal('')
        const { status, err } = await serving.ended
        expect(err).to.match(/^zkwire import: INVALIDACL: /)
        expect(status).to.equal(1)
      } finally {
        serving.signals.deliver('SIGTERM')
        await serving.ended
        await rm(folder, { recursive: true })
      }
    })
  })

  describe('lock', () => {
    it('takes --wait in seconds', async () => {
      await using _held = await new Mutex(zk, '/lock').acquire()
      let wait = NaN
      const setTimeout = (callback: () => void, ms: number) => {
        // The connection may take 60 s, and the lock what is left of them.
        const isWait = ms > 40_000 && ms < 60_000
        if (isWait) wait = ms
        return systemClock.setTimeout(callback, isWait ? 0 : ms)
      }
      const clock = { ...systemClock, setTimeout }
      const { status, err } = await run(['lock', '/lock', '--wait', '60', '--', 'true'], { clock })
      expect([status, err.split(': ').slice(0, 2).join(': ')]).to.deep.equal([
        75,
        'zkwire lock: /lock was not acquired within 60 s',
      ])
      expect(err).to.match(/: (another contender holds it|no server answers)\n$/)
      expect(wait).to.be.within(40_000, 60_000)
    })

    describe('in a process that was stopped for longer than its session', () => {
      const timeout = 30
      let stop: number
      let locking: ReturnType<Starters['start']>

      beforeEach(async () => {
        stop = 0
        let isGuarded = false
        const clock = {
          ...systemClock,
          now: () => systemClock.now() + stop,
          setTimeout: (callback: () => void, ms: number) => {
            const isLook = ms === (timeout / 6) * 1000
            isGuarded ||= isLook
            // No timer looks at the lock after the stop.
            return isLook ? undefined : systemClock.setTimeout(callback, ms)
          },
        }
        locking = start(['lock', '/lock', '--timeout', String(timeout), '--', 'sleep', '60'], { clock })
        await until(() => isGuarded)
        stop = 2 * timeout * 1000
      })
      afterEach(async () => {
        locking.signals.deliver('SIGTERM')
        await locking.ended
      })

      it('ends the program before it goes on', async () => {
        locking.signals.deliver('SIGCONT')
        expect(locking.err).to.match(/\/lock is lost: the session has ended, .*; ending sleep\n$/)
        expect((await locking.ended).status).to.equal(statuses.lost)
      })

      it('says by its status that the lock was lost, if the program ends first', async () => {
        locking.signals.deliver('SIGTERM')
        expect((await locking.ended).status).to.equal(statuses.lost)
      })
    })
  })
})
