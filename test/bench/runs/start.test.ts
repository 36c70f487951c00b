import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readResult } from '../../../bench/output/result.ts'
import { readPeersResult } from '../../../bench/peers/result.ts'
import { connect } from '../../../src/index.ts'
import { sharedServer } from '../../support/shared-server.ts'

const main = fileURLToPath(new URL('../../../bench/main.ts', import.meta.url))

const herd = fileURLToPath(new URL('../../../docs/herd.json', import.meta.url))
const peers = fileURLToPath(new URL('../../../docs/peers.json', import.meta.url))

describe('npm start', function () {
  this.timeout(60_000)

  let directory: string
  let json: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'zkwire-bench-'))
    json = join(directory, 'results', 'figures.json')
  })
  after(() => rm(directory, { recursive: true }))

  // The smallest number of sessions is always measured completely, however busy the machine is.
  const few = ['--scenarios', 'mutex,herd,data', '--sessions', '4', '--seconds', '1']

  it('prints a conclusion, writes the raw figures, and exits', async () => {
    const { connectString } = await sharedServer()
    const program = start(...few, '--server', connectString, '--json', json)
    const { exitCode, stdout, stderr } = await program.ended
    expect(stderr, 'no progress line without a terminal').to.equal('')
    expect(exitCode).to.equal(0)
    for (const words of ['IN SHORT, with 4 sessions', 'mutex', 'herd', 'data', 'figures.json', 'bench/README.md'])
      expect(stdout).to.contain(words)
    expect(stdout).not.to.contain('ON THE WIRE')
    const { cells, ended } = JSON.parse(await readFile(json, 'utf8')) as { cells: unknown[]; ended: string }
    expect(cells).to.have.length(3)
    expect(ended).to.equal('complete')
    const wide = (line: string) => line.length > 80 && !/^(Took|Report)/.test(line)
    expect(stdout.split('\n').filter(wide)).to.deep.equal([])
    expect(stdout).to.match(/^Report, .*figures\.html$/m)
    expect(await readFile(join(directory, 'results', 'figures.html'), 'utf8')).to.contain('id="timeline-mutex"')
  })

  it('starts the embedded server, which causes the same traffic as Apache ZooKeeper, to the byte', async () => {
    const embedded = join(directory, 'embedded.json')
    const { exitCode, stdout, stderr } = await start(...few, '--tables', '--compare', json, '--json', embedded).ended
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: '' })
    expect(stdout).to.contain('on the embedded server of zkwire').and.to.contain('ON THE WIRE')
    expect(stdout).to.match(/^Clients and server counted the same: \d+ frames sent, \d+ received\.$/m)
    expect(stdout).to.match(/^COMPARED with the run of .*[^]*^on ANOTHER machine or server: /m)
    expect(await readFile(join(directory, 'embedded.html'), 'utf8')).to.contain(
      'Comparison with the server’s own counts',
    )
    const countedIn = async (file: string) =>
      (await readResult(file)).cells.map(({ scenario, size, counted }) => [scenario, size, counted[0]])
    expect(await countedIn(embedded)).to.deep.equal(await countedIn(json))
  })

  it('writes the result if the servers cannot be measured one by one, and says why', async () => {
    const { connectString } = await sharedServer()
    const partial = join(directory, 'partial.json')
    // Nothing accepts connections on port 1.
    const data = ['--scenarios', 'data', '--sessions', '4', '--seconds', '1', '--json', partial]
    const { exitCode, stderr } = await start(...data, '--server', `${connectString},127.0.0.1:1`).ended
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: '' })
    const { cells, remarks } = await readResult(partial)
    expect(cells).to.have.length(1)
    expect(remarks).to.include(
      'The servers were not measured one by one: 127.0.0.1:1 cannot be reached, so there is only one server.',
    )
  })

  it('reports a wrong command line in one line', async () => {
    const { exitCode, stdout, stderr } = await start('--sessions', 'many').ended
    expect(exitCode).to.equal(2)
    expect(stdout).to.equal('')
    expect(stderr).to.match(/^--sessions: "many" is not .*\n$/)
  })

  it('compares two results without a run, and exits with 3 if the newer one is worse', async () => {
    const newer = join(directory, 'newer.json')
    const result = await readResult(herd)
    for (const { phases } of result.cells) for (const { counts } of phases) counts.framesSent.median *= 2
    await writeFile(newer, JSON.stringify({ ...result, server: { ...result.server, version: '3.9.9' } }))
    const same = await start('--compare', herd, '--to', herd, '--fail-if-worse', '0%').ended
    expect(same).to.include({ exitCode: 0, stderr: '' })
    expect(same.stdout).to.contain('on the same machine and server').and.to.contain('\nNot worse: none of ')
    const worse = await start('--compare', herd, '--to', newer, '--fail-if-worse', '10%').ended
    expect(worse).to.include({ exitCode: 3, stderr: '' })
    expect(worse.stdout)
      .to.match(/^ {2}server: Apache ZooKeeper 3\.\S+, standalone → Apache ZooKeeper 3\.9\.9, standalone$/m)
      .and.to.match(/^WORSE: herd 1000, release: 4002 frames instead of 3001, which is 33\.4 % more\.$/m)
    expect(await start('--compare', herd, '--to', newer).ended).to.include({ exitCode: 0 })
  })

  it('compares two results of the peers, and exits with 3 if a lock that was to be measured is missing', async () => {
    const same = await start('--compare', peers, '--to', peers, '--fail-if-worse', '0%').ended
    expect(same).to.include({ exitCode: 0, stderr: '' })
    expect(same.stdout)
      .to.match(/^c-mutex +100 release +6\.08k → 6\.08k /m)
      .and.to.contain('\nNot worse: none of ')
    const result = await readPeersResult(peers)
    const newer = join(directory, 'newer-peers.json')
    const [first] = result.cells
    const libraries = result.libraries.map(each => (each.name === 'Curator' ? { ...each, version: '5.9.0' } : each))
    await writeFile(newer, JSON.stringify({ ...result, libraries, cells: result.cells.slice(1) }))
    const gutted = await start('--compare', peers, '--to', newer, '--fail-if-worse', '10%').ended
    expect(gutted).to.include({ exitCode: 3, stderr: '' })
    expect(gutted.stdout.replaceAll(/\s+/g, ' '))
      .to.contain(`was to measure ${first?.recipe} ${first?.size}, and did not`)
      .and.to.contain('on the same machine and server libraries: Curator 5.4.0, ZooKeeper recipes')
      .and.to.contain('→ Curator 5.9.0, ZooKeeper recipes')
    const mixed = await start('--compare', herd, '--to', peers).ended
    expect(mixed).to.include({ exitCode: 1, stdout: '' })
    expect(mixed.stderr).to.equal('a result of --peers can be compared only with another result of --peers\n')
    expect((await start('--predict', '--result', peers).ended).stderr).to.match(
      /peers\.json is a result of --peers, and/,
    )
  })

  it('foretells from the committed run in 80 columns, without a run', async () => {
    const { exitCode, stdout, stderr } = await start('--predict', '--sessions', '1000000').ended
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: '' })
    expect(stdout)
      .to.match(/^With 1,000,000 contenders, /)
      .and.to.match(/^- Take TicketMutex\./m)
    expect(stdout.split('\n').filter(line => line.length > 80)).to.deep.equal([])
    expect(await start('--predict', '--apache').ended).to.include({ exitCode: 2, stdout: '' })
    expect((await start('--predict', '--help').ended).stdout).to.contain('--line-rate')
  })

  it('rejects --compare with a file that is not a result, in one line, before it starts anything', async () => {
    const { exitCode, stdout, stderr } = await start('--compare', main).ended
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' })
    expect(stderr).to.match(/^[^\n]*main\.ts: [^\n]+\n$/)
  })

  it('reports in one line that a result cannot be written, before it starts anything', async () => {
    const { exitCode, stdout, stderr } = await start('--json', join(main, 'figures.json')).ended
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' })
    expect(stderr).to.match(/^E[A-Z]+: [^\n]*main\.ts[^\n]*\n$/)
  })

  it('reports that all requested scenarios are too heavy, before it starts anything', async () => {
    const { exitCode, stderr } = await start('--sessions', '10000', '--scenarios', 'herd').ended
    expect(exitCode).to.equal(2)
    expect(stderr).to.match(/^Skipped herd 10000: it would move about 6\.00G bytes at once \(--all .*\n$/)
  })

  it('says how to raise the limit of file descriptors if it is too low, and opens no session', async () => {
    const { connectString } = await sharedServer()
    const { exitCode, stderr } = await start('--server', connectString, '--sessions', '4000000').ended
    expect(exitCode).to.equal(1)
    expect(stderr).to.match(/^\d+ concurrent sessions need \d+ file descriptors.*ulimit -n.*\n$/)
  })

  it('reports an unreachable server at once, in one line', async () => {
    const { exitCode, stdout, stderr } = await start('--server', '127.0.0.1:1,localhost:1').ended
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' })
    expect(stderr).to.match(
      /^--server: cannot reach a ZooKeeper at 127\.0\.0\.1:1,localhost:1 \(connect E[A-Z]+ .*\)\n$/,
    )
  })

  it('prints its help', async () => {
    const { exitCode, stdout } = await start('--help').ended
    expect(exitCode).to.equal(0)
    expect(stdout).to.contain('--sessions')
  })

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`leaves nothing on the server after ${signal}`, async () => {
      const { connectString } = await sharedServer()
      await using client = await connect(connectString)
      const traces = async () =>
        (await client.getChildren('/')).children.filter(name => name.startsWith('zkwire-bench'))
      expect(await traces()).to.deep.equal([])
      const program = start('--server', connectString, '--sessions', '20', '--seconds', '600', '--json', json)
      while (!(await hasStarted(await traces()))) await delay(5)
      program.kill(signal)
      const { exitCode } = await program.ended
      expect(exitCode).to.equal(code)
      expect(await traces()).to.deep.equal([])

      async function hasStarted([root]: string[]): Promise<boolean> {
        if (root === undefined) return false
        const locks = await client.getChildren(`/${root}`).catch(() => ({ children: [] }))
        return locks.children.length > 0
      }
    })
})

function start(...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, stdout, stderr }))
  return { ended, kill: (signal: NodeJS.Signals) => child.kill(signal) }
}
