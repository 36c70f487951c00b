// `zkwire trace`: the sessions of three clients through it, its options, and its errors.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { connect } from '../../../src/index.ts'
import { xids } from '../../../src/protocol/index.ts'
import { findApacheZooKeeper } from '../../../environment/find-apache-zookeeper.ts'
import { fourLetterWord } from '../../../environment/four-letter-word.ts'
import { freePort } from '../../../environment/free-port.ts'
import { provideKazoo } from '../../../environment/other-libraries.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { until } from '../../../environment/until.ts'
import { Program, zkwire } from './program.ts'

const run = promisify(execFile)
describe('zkwire trace', function () {
  this.timeout(60_000)
  // Installing the package takes longer than a test.
  before(function () {
    this.timeout(300_000)
    return provideKazoo()
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

  it('prints one JSON document for each frame with --json, and for each connection that opens or ends', async () => {
    const startedAt = performance.now()
    await using trace = await Trace.start('--json', '--hex')
    await (await connect(trace.listensOn)).close()
    await until(() => trace.output.includes('closed'))
    const documents = trace.output
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(documents[0]).to.have.all.keys('seconds', 'connection', 'sentence', 'client', 'server')
    expect(documents.at(-1)).to.include({ sentence: 'closed', closed: true })
    const seconds = documents.map(each => each['seconds'] as number)
    expect(seconds).to.deep.equal([...seconds].sort((a, b) => a - b))
    expect(seconds.at(-1)).to.be.within(Number.MIN_VALUE, (performance.now() - startedAt) / 1000)
    expect(documents[1]).to.include({ connection: 1, from: 'client', op: 'connect' })
    expect(documents[1]?.['dump']).to.contain('passwd')
    // The whole frame, with zeros in place of the password.
    expect(documents[2]?.['bytes']).to.match(/^00000025\w{32}00000010(00){16}\w{2}$/)
    expect(documents.find(each => each['op'] === 'closeSession')).to.include({ from: 'client', xid: 1 })
  })

  it('listens on loopback unless it is told an address', async () => {
    await using trace = await Trace.start()
    expect(trace.listensOn).to.match(/^127\.0\.0\.1:\d+$/)
    await using other = await Trace.to((await sharedServer()).connectString, [], `0.0.0.0:${await freePort()}`)
    expect(other.listensOn).to.match(/^0\.0\.0\.0:\d+$/)
  })

  it('reports a wrong address or port in one line, and a port that is taken', async () => {
    for (const args of [
      ['70000', 'a:1'],
      ['1', 'a:1/app'],
      ['1', 'a:1,b:2'],
      ['here', 'a:b:c'],
    ]) {
      const { status, out, err } = await zkwire(['trace', ...args])
      expect([status, out]).to.deep.equal([64, ''])
      expect(err).to.match(/^zkwire trace: (LISTEN|TARGET): [^\n]+ \(see zkwire help trace\)\n$/)
    }
    await using trace = await Trace.start()
    const { status, err } = await zkwire(['trace', trace.listensOn, 'localhost:1'])
    expect(status).to.equal(1)
    expect(err).to.match(/^zkwire trace: listen EADDRINUSE: [^\n]+\n$/)
  })
})

const withoutNumbers = (sentence: string) => sentence.replace(/0x[0-9a-f]+|\d+/g, 'N')

class Trace {
  readonly #program: Program
  readonly listensOn: string

  private constructor(program: Program, listensOn: string) {
    this.#program = program
    this.listensOn = listensOn
  }

  static async start(...options: string[]): Promise<Trace> {
    return Trace.to((await sharedServer()).connectString, options)
  }

  static async to(target: string, options: string[] = [], listen = '0'): Promise<Trace> {
    const program = new Program(['trace', ...options, listen, target])
    await until(() => program.err.includes('\n'))
    return new Trace(program, /listening on (\S+),/.exec(program.err)?.[1] ?? expect.fail(program.err))
  }

  get output(): string {
    return this.#program.out
  }

  /** The printed sentences, without the time and the number of the connection. */
  get sentences(): string[] {
    return this.output
      .trimEnd()
      .split('\n')
      .map(line => line.replace(/^ *[\d.]+ +\[\d+\] +/, ''))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill('SIGINT')
    expect((await this.#program.ended).status).to.equal(130)
  }
}
