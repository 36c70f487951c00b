// Several programs share one run, and meet at a node of a ZooKeeper. Each of them stands for a machine.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readResult } from '../../bench/output/result.ts'
import { connect, type Client } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import type { ChildProgram } from '../../environment/child-program.ts'
import { childrenOf } from '../../environment/procfs.ts'
import { startProgram } from '../bench/runs/program.ts'
import { until } from '../../environment/until.ts'

const PATIENCE = { within: 60_000 }

describe('a run on several machines', function () {
  this.timeout(120_000)

  let server: Server
  let client: Client
  let directory: string
  let json: string
  let programs: ChildProgram[] = []
  before(async () => {
    server = await Server.start()
    client = await connect(server.connectString)
    directory = await mkdtemp(join(tmpdir(), 'zkwire-bench-'))
    json = join(directory, 'shared.json')
  })
  afterEach(async () => {
    for (const program of programs) program.kill('SIGKILL')
    await Promise.all(programs.map(({ ended }) => ended))
    programs = []
  })
  after(async () => {
    await client.close()
    await server.close()
    await rm(directory, { recursive: true })
  })

  const small = ['--scenarios', 'mutex,data', '--sessions', '6', '--seconds', '1', '--seed', '1']
  const started = (program: ChildProgram) => {
    programs.push(program)
    return program
  }
  const meeting = () => `${server.connectString}/fleet`
  const organize = (...args: string[]) => started(startProgram('bench/main.ts', '--join', meeting(), ...args))
  const joinWith = (processes: string) =>
    started(startProgram('bench/fleet/main.ts', meeting(), '--processes', processes))
  const left = async () => (await client.getChildren('/')).children.filter(name => name !== 'zookeeper')

  it('counts the same traffic on two machines as on one, to the byte, and leaves no process and no node', async () => {
    const other = joinWith('2')
    const organizer = organize('--machines', '2', '--processes', '1', ...small, '--json', json)
    const [ended, otherEnded] = await Promise.all([organizer.ended, other.ended])
    expect([ended.status, otherEnded.status], ended.err + otherEnded.err).to.deep.equal([0, 0])
    expect(ended.out).to.contain('3 processes on 2 machines').and.to.contain('Clocks of machines are not compared')
    expect(otherEnded.out).to.match(/^joined \/fleet with 2 processes[^\n]*\nmeasuring /)
    const alone = join(directory, 'alone.json')
    await startProgram('bench/main.ts', '--server', server.connectString, ...small, '--json', alone).ended
    const countsIn = async (file: string) =>
      (await readResult(file)).cells.map(({ scenario, size, counted }) => [scenario, size, counted[0]])
    expect(await countsIn(json)).to.have.deep.members(await countsIn(alone))
    expect((await readResult(json)).fleet?.lost).to.deep.equal([])
    expect(await left()).to.deep.equal([])
  })

  it('names a machine that dies, leaves out what was measured with it, and measures again with the others', async () => {
    const other = joinWith('1')
    const seconds = ['--scenarios', 'data', '--sessions', '6', '--seconds', '1']
    const organizer = organize('--machines', '2', '--processes', '1', ...seconds, '--json', json)
    await until(() => other.out.includes('measuring'), PATIENCE)
    const victim = other.pid
    for (const pid of [victim, ...childrenOf(victim)]) process.kill(pid, 'SIGKILL')
    const { status, out, err } = await organizer.ended
    expect(status, err).to.equal(0)
    const { fleet, cells, remarks } = await readResult(json)
    expect(fleet?.machines.map(({ processes }) => processes)).to.deep.equal([1])
    expect(fleet?.lost).to.have.length(1)
    expect(fleet?.lost[0]?.name).to.contain(`(${victim})`)
    expect(cells.map(({ size, phases }) => [size, phases[0]?.counts.notifications.median])).to.deep.equal([[6, 6]])
    expect(remarks.join('\n')).to.contain('What was measured until then is left out')
    expect(out.replace(/\s+/g, ' ')).to.contain('left or died after')
    expect(await left()).to.deep.equal([])
  })

  it('ends on the other machines, and leaves no process and no node, after SIGINT on the organizing one', async () => {
    const other = joinWith('2')
    const organizer = organize(
      '--machines',
      '2',
      '--processes',
      '1',
      '--seconds',
      '600',
      '--sessions',
      '6',
      '--json',
      json,
    )
    await until(() => other.out.includes('measuring') && childrenOf(other.pid).length === 2, PATIENCE)
    const processes = [...childrenOf(other.pid), ...childrenOf(organizer.pid)]
    organizer.kill('SIGINT')
    expect((await organizer.ended).status).to.equal(130)
    const { status } = await other.ended
    expect(status).to.be.oneOf([0, 1])
    await until(() => processes.every(pid => !existsSync(`/proc/${pid}`)))
    expect(await left()).to.deep.equal([])
  })

  it('tells a machine that comes too late, which ends without an error', async () => {
    const organizer = organize('--machines', '1', '--processes', '1', ...small.with(5, '3'), '--json', json)
    await until(async () => (await left()).some(name => name.startsWith('zkwire-bench-')), PATIENCE)
    const { status, out, err } = await joinWith('1').ended
    expect({ status, err }).to.deep.equal({ status: 0, err: '' })
    expect(out).to.match(/^joined \/fleet [^\n]*\nthe run has begun without this machine\n$/)
    expect((await organizer.ended).status).to.equal(0)
    expect((await readResult(json)).fleet?.machines).to.have.length(1)
    expect(await left()).to.deep.equal([])
  })

  it('leaves no node after SIGINT while it waits for the organizing machine', async () => {
    const other = joinWith('1')
    await until(() => other.out.includes('joined'), PATIENCE)
    other.kill('SIGINT')
    expect((await other.ended).status).to.equal(130)
    expect(await left()).to.deep.equal([])
  })

  it('ends with a message if the organizing machine dies', async () => {
    const other = joinWith('1')
    const organizer = organize('--machines', '3', '--processes', '1', '--json', json)
    await until(
      async () => (await client.getChildren('/fleet/machines').catch(() => undefined))?.children.length === 2,
      PATIENCE,
    )
    organizer.kill('SIGKILL')
    const { status, err } = await other.ended
    expect({ status, err }).to.deep.equal({
      ...{ status: 1, err: 'the machine that organizes the run has left it or died\n' },
    })
    await until(async () => (await left()).length === 0)
  })

  it('refuses a second machine that organizes', async () => {
    const first = organize('--machines', '3', '--json', json)
    await until(
      async () => (await client.getChildren('/fleet/machines').catch(() => undefined))?.children.length === 1,
      PATIENCE,
    )
    const { status, err } = await organize('--machines', '3', '--json', json).ended
    expect(status).to.equal(1)
    expect(err).to.match(/^.+ \(\d+\) organizes a run there already\n$/)
    first.kill('SIGINT')
    await first.ended
    expect(await left()).to.deep.equal([])
  })
})
