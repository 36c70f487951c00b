// The benchmark on an ensemble of Apache's servers: what is spread, what is not, and the loss of the leader.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EnsembleFigures } from '../../bench/ensemble/figures.ts'
import { measureEnsemble } from '../../bench/ensemble/measure.ts'
import { startEnsemble } from '../../bench/ensemble/start.ts'
import type { Server } from '../../bench/harness/server.ts'
import { Progress } from '../../bench/output/progress.ts'
import { readResult } from '../../bench/output/result.ts'
import { connect } from '../../src/index.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { childrenOf, commandOf } from '../../environment/procfs.ts'
import { until } from '../../environment/until.ts'
import { startProgram } from '../bench/runs/program.ts'

const silent = new Progress({ write: () => undefined })
const SESSIONS = 12
const never = new AbortController().signal

describe('the benchmark on an ensemble with an observer', function () {
  this.timeout(180_000)

  let server: Server
  let figures: EnsembleFigures
  before(async () => {
    server = await startEnsemble({ voters: 3, observers: 1 })
    const measured = await measureEnsemble(server, { sizes: [SESSIONS], seed: 1 }, silent, never)
    if (measured === undefined) throw new Error('the servers are in no ensemble')
    figures = measured
  })
  after(() => server.close())

  it('names the role of each server, and by what its counts are read', () => {
    expect(figures.servers.map(({ role }) => role).sort()).to.deep.equal(['follower', 'follower', 'leader', 'observer'])
    expect(figures.servers.map(({ countedBy }) => countedBy)).to.deep.equal(['mntr', 'mntr', 'mntr', 'mntr'])
    expect(figures.remarks).to.deep.equal([])
  })

  it('finds that each server notifies its own sessions, and only these', () => {
    const notifiedOn = (on: string) =>
      figures.placed.find(each => each.scenario === 'data' && each.on === on)?.byServer.map(each => each.notifications)
    expect(notifiedOn('all servers')).to.deep.equal([3, 3, 3, 3])
    const index = figures.servers.findIndex(({ role }) => role === 'follower')
    expect(notifiedOn('one follower')).to.deep.equal([0, 0, 0, 0].with(index, SESSIONS))
  })

  it('counts the same frames as each server', () => {
    expect(figures.frameCounts.agree).to.equal(true)
    for (const { clients } of figures.frameCounts.frames) expect(clients[0]).to.be.above(0)
  })

  it('finds that the leader proposes the writes of all servers', () => {
    const leader = figures.servers.findIndex(({ role }) => role === 'leader')
    expect(figures.calls).to.have.length(4)
    for (const { writes, proposals } of figures.calls) expect(proposals[leader]).to.equal(writes)
  })

  it('times hand-overs between each two servers, in both directions', () => {
    const pairs = figures.handOvers.map(({ from, to }) => `${from} ${to}`).sort()
    const all = [0, 1, 2, 3].flatMap(from => [0, 1, 2, 3].map(to => `${from} ${to}`))
    expect(pairs).to.deep.equal(all)
  })

  it('kills the leader in the middle, and no session, lock or notification is lost', () => {
    expect(figures.leaderLoss).to.deep.include({ expired: 0, overlapped: false, watchers: 30, informed: 30 })
    const { longestPauseMs = 0, usualPauseMs = 0 } = figures.leaderLoss ?? {}
    expect(longestPauseMs).to.be.above(usualPauseMs)
  })

  it('does not kill the leader of servers that it did not start, and names one that cannot be reached', async () => {
    const given = { servers: `${server.servers},127.0.0.1:1`, pids: [], mode: 'leader' }
    const measured = await measureEnsemble(given, { sizes: [4], seed: 1 }, silent, never)
    expect(measured?.leaderLoss).to.equal(undefined)
    expect(measured?.frameCounts.agree, 'the servers may have other clients').to.equal(undefined)
    expect(measured?.remarks.join('\n'))
      .to.contain('this run did not start the servers')
      .and.to.contain('These servers could not be reached: 127.0.0.1:1.')
    expect(measured?.placed[0]?.byServer.map(({ notifications }) => notifications)).to.deep.equal([1, 1, 1, 1])
  })

  it('asks for all servers if only one of the ensemble is named', async () => {
    const [first] = server.ensemble?.servers ?? []
    const single = { servers: first?.connectString ?? '', pids: [], mode: 'follower' }
    const measuring = measureEnsemble(single, { sizes: [4], seed: 1 }, silent, never)
    expect(await measuring.catch(String)).to.match(/^Error: \S+ is a follower, and --server names no other .* Name all/)
    expect(await measureEnsemble({ ...single, mode: 'standalone' }, { sizes: [4], seed: 1 }, silent, never)).to.equal(
      undefined,
    )
  })

  it('starts the leader again, and leaves no node', async () => {
    await using client = await connect(server.servers)
    expect((await client.getChildren('/')).children).to.deep.equal(['zookeeper'])
    const { ensemble } = server
    if (ensemble === undefined) throw new Error('no ensemble was started')
    const modes = await Promise.all(ensemble.servers.map(each => ensemble.mode(each)))
    expect(modes).not.to.include(undefined)
  })
})

describe('npm start -- --ensemble', function () {
  this.timeout(120_000)

  const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'zkwire-bench-'))))
  afterEach(() => rm(directory, { recursive: true }))

  it('leaves no process and no directory after SIGINT', async () => {
    const args = ['--ensemble', '2', '--sessions', '5', '--seconds', '600', '--processes', '2']
    const program = startProgram('bench/main.ts', ...args, '--json', join(directory, 'r.json'))
    try {
      const children = () => childrenOf(program.pid)
      // Two servers and two processes.
      await until(() => children().length === 4, { within: 60_000 })
      const pids = children()
      const data = (await readdir('/dev/shm')).filter(name => name.startsWith('apache-zookeeper-'))
      const own = data.filter(name => pids.some(pid => commandOf(pid).includes(name)))
      expect(own).to.have.length(2)
      program.kill('SIGINT')
      expect((await program.ended).status).to.equal(130)
      await until(() => pids.every(pid => !existsSync(`/proc/${pid}`)))
      expect(own.filter(name => existsSync(join('/dev/shm', name)))).to.deep.equal([])
    } finally {
      program.kill('SIGKILL')
    }
  })

  for (const phase of ['the sessions on all servers', 'hand-overs between the servers', 'the loss of the leader'])
    it(`writes what was measured before if SIGINT comes while it measures ${phase}`, async () => {
      const json = join(directory, 'r.json')
      const args = ['--ensemble', '3', '--scenarios', 'data', '--sessions', '4', '--seconds', '1', '--json', json]
      // The program shows its progress only on a terminal, which script provides.
      const command = [process.execPath, '--import', 'tsx', main, ...args].join(' ')
      const shown = ['--quiet', '--return', '--command', `exec ${command}`, '/dev/null']
      const terminal = new ChildProgram(shown, { program: 'script', keepsInput: true })
      let interruptedAt = Infinity
      try {
        terminal.child.stdout.on('data', () => {
          if (interruptedAt < Infinity || !terminal.out.includes(phase)) return
          interruptedAt = performance.now()
          for (const pid of childrenOf(terminal.pid)) process.kill(pid, 'SIGINT')
        })
        const { status, out } = await terminal.ended
        expect(status, out).to.equal(130)
        expect(performance.now() - interruptedAt).to.be.below(20_000)
        const { ended: reason, cells } = await readResult(json)
        expect(reason).to.equal('Interrupted by SIGINT')
        expect(cells).to.have.length(1)
      } finally {
        terminal.kill('SIGKILL')
      }
    })
})
