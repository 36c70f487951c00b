// `zkwire trace --top` in this process: its tables, by a clock that the test owns.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/index.ts'
import { until } from '../../../environment/until.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process, zkwire trace --top', () => {
  let server: Server
  let starters: Starters
  before(async () => {
    server = await Server.start()
    starters = await inProcess(server)
  })
  after(() => server.close())

  async function traced(...options: string[]) {
    const clock = new VirtualClock()
    const running = starters.start(['trace', ...options, '0', server.connectString], { clock })
    await until(() => running.err.includes('\n'))
    const listening = /listening on (\S+),/.exec(running.err)?.[1] ?? expect.fail(running.err)
    return {
      listening,
      /** Returns what the next seconds print. */
      async after(seconds: number): Promise<string> {
        const { length } = running.out
        await clock.advance(seconds * 1000)
        return running.out.slice(length)
      },
      async [Symbol.asyncDispose]() {
        running.signals.deliver('SIGINT')
        await running.ended
      },
    }
  }

  it('prints a table every few seconds: requests, bytes, watches and events by client and node', async () => {
    await using trace = await traced('--top', '5', '--no-pings')
    const zk = await connect(trace.listening)
    await zk.create('/top', 'x'.repeat(100))
    for (let i = 0; i < 3; i++) await zk.getData('/top', { watch: () => undefined })
    expect(await trace.after(4.9)).to.equal('')
    const table = (await trace.after(0.1)).replaceAll(/127\.0\.0\.1:\d+/g, 'CLIENT').split('\n')
    expect(table[0]).to.match(/^ {4}5\.000 {2}\d+ bytes of 1 client$/)
    expect(table[1]).to.match(/^requests +bytes +watches +events +client +node$/)
    expect(table[2]).to.match(/^ +4 +\d\d\d +3 +0 +CLIENT +\/top$/)
    expect(table[3]).to.match(/^ +1 +\d+ +0 +0 +CLIENT +-$/) // the handshake
    await zk.setData('/top', 'new')
    expect(await trace.after(5)).to.match(/^ {3}10\.000 .*\n.*\n +1 +\d+ +0 +1 +\S+ +\/top\n$/)
    expect(await trace.after(5)).to.equal('   15.000  no frames\n')
    await zk.delete('/top')
    await zk.close()
  })

  it('prints the first twenty rows, and all of them with --json', async () => {
    const traffic = async (options: string[]) => {
      await using trace = await traced('--top', '1', ...options)
      const zk = await connect(trace.listening)
      await Promise.all(Array.from({ length: 30 }, (_, i) => zk.exists(`/absent-${i}`)))
      const printed = await trace.after(1)
      await zk.close()
      return printed.trimEnd().split('\n')
    }
    const lines = await traffic([])
    expect(lines).to.have.length(23)
    expect(lines.at(-1)).to.equal('and 11 rows with fewer bytes')
    const [document = ''] = await traffic(['--json'])
    const { seconds, rows } = JSON.parse(document) as { seconds: number; rows: Record<string, unknown>[] }
    expect([seconds, rows.length]).to.deep.equal([1, 31])
    expect(rows.find(({ path }) => path === '/absent-7')).to.deep.include({ requests: 1, watches: 0, events: 0 })
  })

  it('refuses seconds that are no number, and --hex, because it prints no frames', async () => {
    for (const options of [
      ['--top', 'x'],
      ['--top', '0'],
      ['--top', '5', '--hex'],
    ]) {
      const { status, err } = await starters.run(['trace', ...options, '0', server.connectString])
      expect(status).to.equal(64)
      expect(err).to.match(/^zkwire trace: --top[: ]/)
    }
  })
})
