// Other ZooKeeper clients use all their features on Apache ZooKeeper and on the embedded server. Their output must be
// the same on both.
import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Server } from '../../../src/server/index.ts'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { until } from '../../../environment/until.ts'
import { CLI_MT, cClientShell, PYTHON } from '../../../environment/needs.ts'
import { provideKazoo } from '../../../environment/other-libraries.ts'

describe('the embedded server behaves like Apache ZooKeeper', () => {
  let apache: string
  let embedded: Server

  before(async function () {
    this.timeout(600_000)
    await provideKazoo()
    await ensureInstalled(cClientShell)
    apache = (await sharedServer()).connectString
    embedded = await Server.start({ tickTime: 500 })
  })
  after(() => embedded.close())

  it('for kazoo’s operations, watches, transactions and recipes', async () => {
    const script = fileURLToPath(new URL('kazoo_operations.py', import.meta.url))
    const outputOn = async (connectString: string) => {
      const { stdout } = await promisify(execFile)(PYTHON, [script, connectString], { timeout: 50_000 })
      return stdout.trimEnd().split('\n')
    }
    const [onApache, onEmbedded] = await Promise.all([outputOn(apache), outputOn(embedded.connectString)])
    expect(onApache).to.have.length.above(30)
    expect(onEmbedded).to.deep.equal(onApache)
    expect([...embedded.snapshot().nodes.keys()]).to.deep.equal(['/'])
  })

  it('for the C client’s cli_mt', async () => {
    const [onApache, onEmbedded] = await Promise.all([runConversation(apache), runConversation(embedded.connectString)])
    expect(onEmbedded).to.deep.equal(onApache)
    expect([...embedded.snapshot().nodes.keys()]).to.deep.equal(['/'])
    expect(embedded.snapshot().sessions).to.deep.equal([])
  })
})

/** The commands, each with a pattern that matches when its output is complete. */
const conversation: readonly (readonly [command: string, end: RegExp])[] = [
  ['create /cli', /rc = 0\n\tname = \/cli\n/],
  ['create /cli', /rc = -110\n/],
  ['create +e /cli/e', /rc = 0\n\tname = \/cli\/e\n/],
  ['create +s /cli/s-', /rc = 0\n\tname = \/cli\/s-0000000001\n/],
  ['create2 +c /cli/c', /rc = 0\n\tname = \/cli\/c\n[^]*ephemeralOwner.*\n/],
  ['acreate /cli/async', /rc = 0\n\tname = \/cli\/async\n/],
  ['get /cli', /rc = 0\n value_len = 3\nnew\nStat:\n[^]*ephemeralOwner.*\n/],
  ['aget /nothing', /\/nothing: rc = -101\n/],
  ['ls /cli', /rc = 0\n[^]*time = .*\n/],
  ['ls2 /cli', /rc = 0\n[^]*ephemeralOwner.*\n/],
  ['wexists /cli/e', /^/],
  ['delete /cli/e', /^(?=[^]*DELETED_EVENT)(?=[^]*rc = 0\n)/],
  ['wexists /cli/w', /-101.*\n/],
  ['create /cli/w', /^(?=[^]*CREATED_EVENT)(?=[^]*name = \/cli\/w\n)/],
  ['set /cli new data', /rc = 0 Stat:\n[^]*ephemeralOwner.*\n/],
  ['get /cli', /rc = 0\n value_len = 8\nnew data\n/],
  ['delete /cli', /rc = -111\n/],
  ...['s-0000000001', 'c', 'async', 'w'].map(name => [`delete /cli/${name}`, /rc = 0\n/] as const),
  ['delete /cli', /rc = 0\n/],
  ['sync /', /rc = 0\n\tname = \/\n/],
]

/**
 * Returns the sorted lines without times, zxids and ids. Stdout and stderr interleave differently in each run, and
 * lists of children are unordered.
 */
const comparableLines = (shown: string): string[] =>
  shown
    .replace(/time ?= ?.*|[cm]zxid=.*|0x[0-9a-f]+/g, '?')
    .split('\n')
    .sort()

/**
 * Sends each command when the output of the previous one is complete. Returns the output without the parts that differ
 * between runs.
 */
async function runConversation(connectString: string): Promise<string[]> {
  // Without stdbuf, cli_mt buffers its output when stdout is a pipe.
  const cli = spawn('stdbuf', ['-oL', CLI_MT, connectString], { timeout: 50_000 })
  let before = ''
  let shown = ''
  cli.stdout.on('data', chunk => (shown += String(chunk)))
  cli.stderr.on('data', chunk => (shown += String(chunk)))
  const ended = new Promise(resolve => cli.on('close', resolve))
  const answered = async (end: RegExp) => {
    await until(() => end.test(shown))
    before += shown
    shown = ''
  }
  try {
    await answered(/new session id: .*\n/)
    for (const [command, end] of conversation) {
      cli.stdin.write(command + '\n')
      await answered(end)
    }
    cli.stdin.write('quit\n')
    await ended
    return comparableLines(before + shown)
  } catch (error) {
    throw new Error(`${String(error)}\n${before}-----\n${shown}`, { cause: error })
  } finally {
    cli.kill('SIGKILL')
  }
}
