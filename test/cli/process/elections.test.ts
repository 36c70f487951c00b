// `zkwire elect`, `leader` and `who` as processes.
import { expect } from 'chai'
import { hostname } from 'node:os'
import { connect, type Client } from '../../../src/index.ts'
import { LeaderElection, Mutex, ReadWriteLock, Semaphore } from '../../../src/recipes/index.ts'
import { until } from '../../../environment/until.ts'
import { jsonOf, onBothServers, Program, zkwire } from './program.ts'

onBothServers('zkwire', server => {
  let zk: Client
  let path = ''
  let run = 0
  before(async () => {
    zk = await connect(server.connectString)
  })
  after(() => zk.close())
  beforeEach(() => void (path = `/cli-elections-${process.pid}-${++run}`))

  const env = () => ({ ZKWIRE_SERVER: server.connectString })
  const elect = (id: string, script: string) =>
    new Program(['elect', path, '--id', id, '--', 'sh', '-c', script], { env: env() })
  const LOOP = 'trap "echo stopped; exit 5" TERM; echo "$ZKWIRE_TOKEN"; while :; do sleep 0.02; done'

  describe('elect', () => {
    it('runs the program of one participant, and of the next one when the first is stopped', async () => {
      const first = elect('one', LOOP)
      await until(() => /^\d+\n$/.test(first.out))
      const second = elect('two', LOOP)
      await until(async () => (await new LeaderElection(zk, path).participants()).length === 2)
      expect(second.out).to.equal('')
      first.kill('SIGTERM')
      expect((await first.ended).status).to.equal(5)
      await until(() => /^\d+\n$/.test(second.out))
      expect(Number(second.out)).to.be.greaterThan(Number.parseInt(first.out))
      second.kill('SIGINT')
      // A shell without a trap for SIGINT ends by it.
      expect((await second.ended).status).to.equal(130)
      expect(await new LeaderElection(zk, path).participants()).to.deep.equal([])
    })

    it('leaves the election when it is stopped before it leads', async () => {
      await using held = await new LeaderElection(zk, path).campaign()
      const waiting = elect('waits', LOOP)
      await until(async () => (await new LeaderElection(zk, path).participants()).length === 2)
      waiting.kill('SIGTERM')
      const { status, out } = await waiting.ended
      expect([status, out]).to.deep.equal([143, ''])
      expect((await new LeaderElection(zk, path).participants()).map(each => each.path)).to.deep.equal([held.path])
    })

    it('runs the program again after it has ended by itself, in a new term', async () => {
      const program = elect('again', 'echo "$ZKWIRE_TOKEN"; exit 3')
      await until(() => program.out.split('\n').length > 2)
      program.kill('SIGTERM')
      await program.ended
      const [one = 0, two = 0] = program.out.split('\n').map(Number)
      expect(two).to.be.greaterThan(one)
      expect(program.err).to.contain('sh ended with status 3')
    })

    it('ends the program when its node is deleted, and campaigns again', async () => {
      const program = elect('deposed', LOOP)
      await until(() => /^\d+\n$/.test(program.out))
      const [leader] = await new LeaderElection(zk, path).participants()
      await zk.delete(leader?.path ?? '')
      await until(() => /^\d+\nstopped\n\d+\n$/.test(program.out))
      program.kill('SIGTERM')
      expect((await program.ended).status).to.equal(5)
      expect(program.err).to.contain("not the leader any more: the lock's node was deleted; ending sh")
    })
  })

  describe('leader', () => {
    it('prints the leader, and ends with 1 if there is none', async () => {
      const none = await zkwire(['leader', path], { env: env() })
      expect([none.status, none.err]).to.deep.equal([1, `zkwire leader: ${path} has no leader\n`])
      await using _held = await new LeaderElection(zk, path, { id: 'ann' }).campaign()
      expect((await zkwire(['leader', path], { env: env() })).out).to.match(/^ann {2}session 0x\w+ {2}since \S+Z\n$/)
    })

    it('follows the changes', async () => {
      const program = new Program(['leader', '-f', '--json', path], { env: env() })
      const leaders = () =>
        program.out
          .trim()
          .split('\n')
          .flatMap(line =>
            line === '' ? [] : [(JSON.parse(line) as { leader: { id: string } | null }).leader?.id ?? null],
          )
      await until(() => leaders().length === 1)
      const held = await new LeaderElection(zk, path, { id: 'ann' }).campaign()
      await until(() => leaders().length === 2)
      await held.release()
      await until(() => leaders().length === 3)
      program.kill('SIGINT')
      expect((await program.ended).status).to.equal(130)
      expect(leaders()).to.deep.equal([null, 'ann', null])
    })
  })

  describe('who', () => {
    const who = () =>
      jsonOf(['who', path], { env: env() }) as Promise<{ holds: boolean; id: string; session: string }[]>

    it('prints the holder and the waiters in order, with session, time and id', async () => {
      const missing = await zkwire(['who', path], { env: env() })
      expect(missing.err).to.match(
        /^zkwire who: NONODE: who \/cli-elections.*: .* \(nobody has used this lock, or .*\)\n$/,
      )
      expect([missing.status, missing.out]).to.deep.equal([1, ''])
      await zk.create(path)
      expect((await zkwire(['who', path], { env: env() })).out).to.equal('free\n')
      await using held = await new Mutex(zk, path, { id: 'holder\u0007' }).acquire()
      const waiter = new Program(['lock', path, '--', 'true'], { env: env() })
      await until(async () => (await new Mutex(zk, path).contenders()).length === 2)
      const session = `0x${zk.sessionId.toString(16)}`
      const { out } = await zkwire(['who', path], { env: env() })
      const [first = '', second = ''] = out.split('\n')
      expect(first).to.match(new RegExp(`^holds  \\S+Z  ${session}  holder\\\\u0007$`))
      expect(second).to.match(new RegExp(`^waits  \\S+Z  0x\\w+  \\S+@${hostname()} ${waiter.pid}$`))
      await held.release()
      expect((await waiter.ended).status).to.equal(0)
    })

    it('knows readers and writers, semaphores, and the names of other libraries', async () => {
      const { readLock, writeLock } = new ReadWriteLock(zk, path, { id: 'x' })
      const readers = [await readLock.acquire(), await readLock.acquire()]
      const stop = new AbortController()
      const writer = writeLock.acquire({ signal: stop.signal }).catch(() => undefined)
      await until(async () => (await writeLock.contenders()).length === 3)
      expect((await who()).map(({ holds }) => holds)).to.deep.equal([true, true, false])
      stop.abort()
      await Promise.all([writer, ...readers.map(each => each.release())])
      await zk.settled()
      path += '-semaphore'
      const permits = [await new Semaphore(zk, path, 2).acquire(), await new Semaphore(zk, path, 2).acquire()]
      expect((await who()).map(({ holds }) => holds)).to.deep.equal([true, true])
      await Promise.all(permits.map(each => each.release()))
      path += '-kazoo'
      await using _kazoo = await new Mutex(zk, path, { dialect: 'kazoo', id: 'k' }).acquire()
      expect((await who()).map(({ holds, id }) => [holds, id])).to.deep.equal([[true, 'k']])
      path += '-zookeeper'
      await using _tagged = await new Mutex(zk, path, { dialect: 'zookeeper', id: 'z' }).acquire()
      expect((await who()).map(({ holds, id }) => [holds, id])).to.deep.equal([[true, 'z']])
    })

    it('follows the changes of a lock that does not exist yet', async () => {
      const program = new Program(['who', '-f', '--json', path], { env: env() })
      const counts = () =>
        program.out
          .trim()
          .split('\n')
          .flatMap(line => (line === '' ? [] : [(JSON.parse(line) as object[]).length]))
      await until(() => counts().length === 1)
      const held = await new Mutex(zk, path).acquire()
      await until(() => counts().at(-1) === 1)
      await held.release()
      await until(() => counts().length > 1 && counts().at(-1) === 0)
      program.kill('SIGINT')
      expect((await program.ended).status).to.equal(130)
      expect(counts()[0]).to.equal(0)
    })
  })
})
