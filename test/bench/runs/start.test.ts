import { expect } from 'chai'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readResult } from '../../../bench/output/result.ts'
import { connect } from '../../../src/index.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { startProgram } from './program.ts'

const main = fileURLToPath(new URL('../../../bench/main.ts', import.meta.url))

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
    const { status, out, err } = await program.ended
    expect(err, 'no progress line without a terminal').to.equal('')
    expect(status).to.equal(0)
    for (const words of ['IN SHORT, with 4 sessions', 'mutex', 'herd', 'data', 'figures.json', 'bench/README.md'])
      expect(out).to.contain(words)
    expect(out).not.to.contain('ON THE WIRE')
    const { cells, ended } = JSON.parse(await readFile(json, 'utf8')) as { cells: unknown[]; ended: string }
    expect(cells).to.have.length(3)
    expect(ended).to.equal('complete')
    const wide = (line: string) => line.length > 80 && !/^(Took|Report)/.test(line)
    expect(out.split('\n').filter(wide)).to.deep.equal([])
    expect(out).to.match(/^Report, .*figures\.html$/m)
    expect(await readFile(join(directory, 'results', 'figures.html'), 'utf8')).to.contain('id="timeline-mutex"')
  })

  it('starts the embedded server, which causes the same traffic as Apache ZooKeeper, to the byte', async () => {
    const embedded = join(directory, 'embedded.json')
    const { status, out, err } = await start(...few, '--tables', '--json', embedded).ended
    expect({ status, err }).to.deep.equal({ status: 0, err: '' })
    expect(out).to.contain('on the embedded server of zkwire').and.to.contain('ON THE WIRE')
    expect(out).to.match(/^Clients and server counted the same: \d+ frames sent, \d+ received\.$/m)
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
    const { status, err } = await start(...data, '--server', `${connectString},127.0.0.1:1`).ended
    expect({ status, err }).to.deep.equal({ status: 0, err: '' })
    const { cells, remarks } = await readResult(partial)
    expect(cells).to.have.length(1)
    expect(remarks).to.include(
      'The servers were not measured one by one: 127.0.0.1:1 cannot be reached, so there is only one server.',
    )
  })

  it('reports a wrong command line in one line', async () => {
    const { status, out, err } = await start('--sessions', 'many').ended
    expect(status).to.equal(2)
    expect(out).to.equal('')
    expect(err).to.match(/^--sessions: "many" is not .*\n$/)
  })

  it('reports in one line that a result cannot be written, before it starts anything', async () => {
    const { status, out, err } = await start('--json', join(main, 'figures.json')).ended
    expect({ status, out }).to.deep.equal({ status: 1, out: '' })
    expect(err).to.match(/^E[A-Z]+: [^\n]*main\.ts[^\n]*\n$/)
  })

  it('reports that all requested scenarios are too heavy, before it starts anything', async () => {
    const { status, err } = await start('--sessions', '10000', '--scenarios', 'herd').ended
    expect(status).to.equal(2)
    expect(err).to.match(/^Skipped herd 10000: it would move about 6\.00G bytes at once \(--all .*\n$/)
  })

  it('says how to raise the limit of file descriptors if it is too low, and opens no session', async () => {
    const { connectString } = await sharedServer()
    const { status, err } = await start('--server', connectString, '--sessions', '4000000').ended
    expect(status).to.equal(1)
    expect(err).to.match(/^\d+ concurrent sessions need \d+ file descriptors.*ulimit -n.*\n$/)
  })

  it('reports an unreachable server at once, in one line', async () => {
    const { status, out, err } = await start('--server', '127.0.0.1:1,localhost:1').ended
    expect({ status, out }).to.deep.equal({ status: 1, out: '' })
    expect(err).to.match(/^--server: cannot reach a ZooKeeper at 127\.0\.0\.1:1,localhost:1 \(connect E[A-Z]+ .*\)\n$/)
  })

  it('prints its help', async () => {
    const { status, out } = await start('--help').ended
    expect(status).to.equal(0)
    expect(out).to.contain('--sessions')
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
      expect((await program.ended).status).to.equal(code)
      expect(await traces()).to.deep.equal([])

      async function hasStarted([root]: string[]): Promise<boolean> {
        if (root === undefined) return false
        const locks = await client.getChildren(`/${root}`).catch(() => ({ children: [] }))
        return locks.children.length > 0
      }
    })
})

const start = (...args: string[]) => startProgram('bench/main.ts', ...args)
