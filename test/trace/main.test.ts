// `npm run trace` as a process: the sessions of three clients through it, its options, and its errors.
import { expect } from 'chai'
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { connect } from '../../src/index.ts'
import { xids } from '../../src/protocol/index.ts'
import { ensureInstalled } from '../support/debian-package.ts'
import { findApacheZooKeeper } from '../support/find-apache-zookeeper.ts'
import { fourLetterWord } from '../support/four-letter-word.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const main = fileURLToPath(new URL('../../trace/main.ts', import.meta.url))

describe('npm run trace', function () {
  this.timeout(60_000)
  // Installing the package takes longer than a test.
  before(function () {
    this.timeout(300_000)
    return ensureInstalled({
      name: 'kazoo',
      package: 'python3-kazoo',
      isInstalled: () => existsSync('/usr/lib/python3/dist-packages/kazoo/client.py'),
      alternatives: 'apt-get install python3-kazoo',
    })
  })

  it("prints this client's session, without secrets", async () => {
    await using trace = await Trace.start()
    const zk = await connect(trace.listensOn, { auth: [{ scheme: 'digest', auth: 'ann:s3cret' }] })
    const { path } = await zk.create('/traced-', 'hello', { mode: 'ephemeralSequential' })
    await zk.exists(path, { watch: () => undefined })
    await zk.delete(path)
    await zk.close()
    await until(() => trace.output.includes('closed'))
    expect(trace.sentences.map(withoutNumbers)).to.include.members([
      'client asks for a new session with a timeout of N ms, having seen zxid N',
      'server gives session N with a timeout of N ms',
      'server answers auth: OK, zxid N',
      'server notifies: NodeDeleted /traced-N',
      'server answers #N closeSession: OK, zxid N',
    ])
    expect(trace.output).not.to.contain('s3cret')
    expect(trace.output).not.to.match(/no known frame|does not name/)
  })

  it("prints the session of Java's client", async () => {
    await using trace = await Trace.start()
    const shell = ['org.apache.zookeeper.ZooKeeperMain', '-server', trace.listensOn, 'ls', '-s', '-w', '/zookeeper']
    await run('java', ['-cp', await findApacheZooKeeper(), ...shell])
    await until(() => trace.output.includes('closed'))
    const sentences = trace.sentences.map(withoutNumbers)
    expect(sentences).to.include('client #N getChildrenN {path: "/zookeeper", watch: true}')
    expect(sentences.find(each => each.startsWith('server answers #N getChildren'))).to.contain('config, quota')
    expect(trace.output).not.to.match(/no known frame|does not name/)
  })

  it("prints the session of Python's kazoo, with a lock", async () => {
    await using trace = await Trace.start()
    const program = `
import sys
from kazoo.client import KazooClient
zk = KazooClient(hosts=sys.argv[1])
zk.start()
with zk.Lock('/traced-by-kazoo', 'me'):
    pass
zk.delete('/traced-by-kazoo')
zk.stop()
zk.close()`
    await run('/usr/bin/python3', ['-c', program, trace.listensOn])
    await until(() => trace.output.includes('closed'))
    const sentences = trace.sentences.join('\n')
    expect(sentences).to.match(/client #\d+ create \{path: "\/traced-by-kazoo\/[0-9a-f]{32}__lock__", data: "me"/)
    expect(sentences).to.match(/server answers #\d+ closeSession: OK/)
    expect(trace.output).not.to.match(/no known frame|does not name/)
  })

  it('prints bytes with --hex, and no pings with --no-pings', async () => {
    await using trace = await Trace.start('--hex', '--no-pings')
    let pings = 0
    const zk = await connect(trace.listensOn, {
      sessionTimeout: 1000,
      onFrame: ({ bytes, first }) => {
        if (!first && Buffer.from(bytes).readInt32BE(0) === xids.ping) pings++
      },
    })
    await zk.exists('/zookeeper')
    await until(() => pings >= 2)
    await zk.close()
    await until(() => trace.output.includes('closed'))
    expect(trace.output).to.match(/^ {11}000c {2}0000000a2f7a6f6f6b6565706572 +path +"\/zookeeper"$/m)
    expect(trace.output).not.to.contain('ping')
  })

  it('forwards four-letter words', async () => {
    await using trace = await Trace.start()
    const [host = '', port = ''] = trace.listensOn.split(':')
    expect(await fourLetterWord(host, Number(port), 'ruok')).to.equal('imok')
    await until(() => trace.output.includes('closed'))
    expect(trace.sentences).to.include('client sends the four-letter word ruok')
  })

  it('reports an unreachable server, and closes the connection', async () => {
    await using trace = await Trace.to('127.0.0.1:1')
    const error: unknown = await connect(trace.listensOn, { connectTimeout: 200 }).catch((e: unknown) => e)
    expect(error).to.have.property('code', 'CONNECTTIMEOUT')
    await until(() => trace.sentences.some(each => /^the connection to the server failed: .*ECONNREFUSED/.test(each)))
  })

  it('reports a wrong command line in one line, and prints its help', async () => {
    const wrong = [[], ['2182'], ['2182', 'a', 'b'], ['70000', 'a:1'], ['1', 'a:1/app'], ['--loud', '1', 'a:1']]
    const start = (args: string[]): Promise<unknown> =>
      run(process.execPath, ['--import', 'tsx', main, ...args]).catch((e: unknown) => e)
    for (const error of await Promise.all(wrong.map(start))) {
      expect(error).to.include({ code: 2, stdout: '' })
      expect(error)
        .to.have.property('stderr')
        .that.matches(/^[^\n]+\(see npm run trace -- --help\)\n$/)
    }
    const { stdout } = await run(process.execPath, ['--import', 'tsx', main, '--help'])
    expect(stdout).to.contain('LISTEN')
    expect(stdout.split('\n').filter(line => line.length > 88)).to.deep.equal([])
  })
})

const withoutNumbers = (sentence: string) => sentence.replace(/0x[0-9a-f]+|\d+/g, 'N')

class Trace {
  readonly #program: ChildProcessWithoutNullStreams
  output = ''
  listensOn = ''

  private constructor(args: readonly string[]) {
    this.#program = spawn(process.execPath, ['--import', 'tsx', main, ...args])
    this.#program.stdout.on('data', chunk => (this.output += String(chunk)))
  }

  static async start(...options: string[]): Promise<Trace> {
    return Trace.to((await sharedServer()).connectString, ...options)
  }

  static async to(target: string, ...options: string[]): Promise<Trace> {
    const trace = new Trace([...options, '0', target])
    const [announcement] = (await once(trace.#program.stderr, 'data')) as [Buffer]
    trace.listensOn = /listening on (\S+),/.exec(String(announcement))?.[1] ?? ''
    return trace
  }

  /** The printed sentences, without the time and the number of the connection. */
  get sentences(): string[] {
    return this.output
      .trimEnd()
      .split('\n')
      .map(line => line.replace(/^ *[\d.]+ +\[\d+\] +/, ''))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#program, 'close')
    this.#program.kill()
    await closed
  }
}
