// `zkwire explain` as a process: captures that tcpdump makes now, frames in hex, and input that is neither.
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sharedServer } from '../../support/shared-server.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import { childrenOf, commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { main, zkwire } from './program.ts'
import { captureOf, capturing, installClients, runJavaClient, runKazoo } from './tcpdump.ts'

const captured = (name: string) => readFileSync(new URL(`../capture/${name}.pcap`, import.meta.url))

describe('zkwire explain', function () {
  this.timeout(60_000)
  before(function () {
    this.timeout(300_000)
    return installClients()
  })

  describe('of a capture that tcpdump makes of a real server', () => {
    let connectString = ''
    let port = ''
    before(async () => {
      ;({ connectString } = await sharedServer())
      port = connectString.split(':')[1] ?? ''
    })

    it("tells the sessions of Java's client and of kazoo", async () => {
      const java = await zkwire(['explain'], { input: await captureOf(port, () => runJavaClient(connectString)) })
      expect([java.status, java.err]).to.deep.equal([0, java.err.match(/^packets: \d+; connections: 1\n$/)?.[0]])
      expect(java.out).to.match(/^ {4}\d\.\d{3} {2}\[1\] {2}client #1 create \{path: "\/captured", data: "data"/m)
      expect(java.out).not.to.match(/no known frame|does not name|lacks/)
      const kazoo = await zkwire(['explain'], { input: await captureOf(port, () => runKazoo(connectString)) })
      expect(kazoo.out).to.match(
        /\[2\] {2}server answers #\d+ create: OK \{path: "\/captured-by-kazoo\/\w{32}__lock__\d{10}"/,
      )
      expect(kazoo.out).to.contain('scheme: "digest", auth: 10 bytes, not shown')
      expect(kazoo.out).not.to.match(/no known frame|does not name|lacks|s3cret/)
    })

    it('tells a live capture while it is made', async () => {
      const tcpdump = capturing(port)
        .map(each => `'${each}'`)
        .join(' ')
      const args = ['-c', `${tcpdump} | '${process.execPath}' '${main}' explain`]
      const pipeline = new ChildProgram(args, { program: 'bash' })
      await until(() => pipeline.err.includes('listening on'))
      await runJavaClient(connectString)
      const closedBy = (end: string) => pipeline.out.includes(`closed by the ${end}`)
      await until(() => closedBy('client') && closedBy('server'))
      expect(pipeline.out).to.contain('server notifies: NodeChildrenChanged /')
      expect(pipeline.child.exitCode).to.equal(null)
      killTcpdump(pipeline.pid)
      const { err } = await pipeline.ended
      expect(err).to.match(/packets: \d+; connections: 1\n/)
    })
  })

  it('prints bytes with --hex, no pings with --no-pings, and JSON with --json', async () => {
    const input = captured('java')
    expect((await zkwire(['explain', '--hex'], { input })).out).to.match(
      /^ {11}000c {2}[0-9a-f]+ +path +"\/captured"$/m,
    )
    const { out } = await zkwire(['explain', '--json'], { input })
    const documents = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as object)
    expect(documents[1]).to.deep.include({ connection: 1, from: 'client', op: 'connect' })
    expect(documents[3]).to.include({ from: 'client', op: 'create', xid: 1 })
    expect(documents[3]).to.have.property('seconds').that.is.above(0)
    const ping = '00000008fffffffe0000000b\n'
    expect((await zkwire(['explain'], { input: ping })).out).to.equal('client ping\n')
    expect((await zkwire(['explain', '--no-pings'], { input: ping })).out).to.equal('')
  })

  it('reads a file, and frames in hex, of which a reply names the operation of its request', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'zkwire-explain-'))
    try {
      const file = join(directory, 'frames')
      writeFileSync(
        file,
        '# a session ends\n> 0000000800000007fffffff5\n< 00000010 00000007 00000000000001a2 00000000\n',
      )
      const { out, status } = await zkwire(['explain', file])
      expect(out).to.equal('client #7 closeSession\nserver answers #7 closeSession: OK, zxid 0x1a2\n')
      expect(status).to.equal(0)
      const missing = await zkwire(['explain', join(directory, 'missing')])
      expect(missing.err).to.match(/^zkwire explain: cannot read the file \S+missing \(ENOENT\) \(see [^\n]+\)\n$/)
      expect(missing.status).to.equal(64)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('prints one line and ends with 64 if the input is neither a capture nor hex', async () => {
    const inputs: readonly (readonly [string | Buffer, string])[] = [
      ['', 'the input is empty'],
      ['x', 'line 1 of the input is not hex, and the input is not a capture of tcpdump -w'],
      ['GET / HTTP/1.1\r\n', 'line 1 of the input is not hex, and the input is not a capture of tcpdump -w'],
      [Buffer.alloc(100_000, 0x9b), 'line 1 of the input is not hex, and the input is not a capture of tcpdump -w'],
      [
        '12:01:02.345 IP localhost.2181 > x: Flags [P.]',
        'line 1 of the input is printed by tcpdump or a debugger, and no frame: write a capture by tcpdump -w',
      ],
      [gzipSync(captured('java')), 'the input is compressed: pass it through gunzip -c'],
    ]
    for (const [input, message] of inputs) {
      const { status, out, err } = await zkwire(['explain'], { input })
      expect([status, out, err]).to.deep.equal([64, '', `zkwire explain: ${message} (see zkwire help explain)\n`])
    }
    const { status, err } = await zkwire(['explain', '--port', 'x'], { input: '' })
    expect([status, err.split(':')[1]]).to.deep.equal([64, ' --port'])
  })
})

/** Ends the tcpdump that a shell has started. */
function killTcpdump(shell: number): void {
  const pid = childrenOf(shell).find(each => commandOf(each).startsWith('/usr/bin/tcpdump '))
  process.kill(pid ?? expect.fail('tcpdump does not run'), 'SIGINT')
}
