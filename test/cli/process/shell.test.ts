// `zkwire shell` that reads a script, `zkwire serve`, and `zkwire playground`.
import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/index.ts'
import { freePort } from '../../../environment/free-port.ts'
import { until } from '../../../environment/until.ts'
import { onBothServers, Program, zkwire } from './program.ts'

onBothServers('zkwire shell with a script', server => {
  const shell = (lines: readonly string[], ...args: string[]) =>
    zkwire(['shell', ...args], { input: `${lines.join('\n')}\n`, env: { ZKWIRE_SERVER: server.connectString } })

  before(() => shell(['rm -r /script'], '-k'))
  afterEach(() => shell(['rm -r /script'], '-k'))

  it('runs its lines in one session, with a current node, quotes and comments', async () => {
    const { status, out, err } = await shell([
      '# a script',
      "create /script 'two words'",
      'cd script',
      '',
      String.raw`create with\ space x   # one word`,
      'create -s job-',
      'ls',
      'cd ..',
      'cd -',
      'pwd',
      'get ../script/./',
      'get "with space"',
    ])
    expect(err).to.equal('')
    expect(out).to.equal(
      '/script\n/script/with space\n/script/job-0000000001\njob-0000000001\nwith space\n/script\ntwo words\nx\n',
    )
    expect(status).to.equal(0)
  })

  it('ends at the first line that fails, with its status', async () => {
    const { status, out, err } = await shell(['create /script', 'cd /script/missing', 'rm -r .', 'get'])
    expect(err).to.equal('zkwire cd: NONODE: there is no node /script/missing\n')
    expect([status, out]).to.deep.equal([1, '/script\n'])
    expect((await shell(['stat /script'])).status).to.equal(0)
  })

  it('runs all lines with --keep-going, and ends with the status of the first that failed', async () => {
    const { status, out, err } = await shell(
      ['gte /', 'get "open', 'get /missing', 'pwd', 'exit', 'pwd'],
      '--keep-going',
    )
    expect(err.split('\n')).to.have.length(4)
    expect(err).to.match(
      /^zkwire: there is no command "gte"; did you mean get\?\nzkwire: the quote " has no end\nzkwire get: NONODE/,
    )
    expect([status, out]).to.deep.equal([64, '/\n'])
  })

  it('keeps ephemeral nodes until it ends, and gives the next command no input from the script', async () => {
    const { out, status } = await shell([
      'create /script',
      'create -e /script/e',
      'ls /script',
      'set /script -',
      'get /script',
    ])
    expect([status, out]).to.deep.equal([0, '/script\n/script/e\ne\n\n'])
    expect((await shell(['ls /script'])).out).to.equal('')
  })

  it('prints the events of .watch with its number', async () => {
    const program = new Program(['shell'], {
      input: 'create /script\n.watch /script\n.watch\nset /script new\nwatch /script\n',
      env: { ZKWIRE_SERVER: server.connectString },
    })
    await until(
      () => /\[1\] \S+ {2}NodeDataChanged {2}\/script\n/.test(program.out) && /^\d\S+ {2}watching/m.test(program.out),
    )
    expect(program.out).to.match(/^\[1\] \/script$/m)
    program.kill('SIGINT')
    expect((await program.ended).status).to.equal(130)
  })
})

describe('zkwire shell', () => {
  it('prints one line and ends with 69 if there is no server', async () => {
    const { status, err } = await zkwire(['shell', '-s', `127.0.0.1:${await freePort()}`], { input: 'pwd\n' })
    expect(err).to.match(/^zkwire shell: NOSERVER: [^\n]*\n$/)
    expect(status).to.equal(69)
  })
})

describe('zkwire serve', () => {
  let directory: string
  before(() => (directory = mkdtempSync(join(tmpdir(), 'zkwire-serve-'))))
  after(() => rmSync(directory, { recursive: true }))
  const fileWith = (text: string, name = 'seed'): string => {
    const file = join(directory, name)
    writeFileSync(file, text)
    return file
  }

  async function serving(...args: string[]): Promise<Program> {
    const program = new Program(['serve', '--port', '0', ...args])
    await until(() => program.out.includes('\n'))
    return program
  }

  it('prints its connect string, serves on loopback, and ends at Ctrl-C', async () => {
    const program = await serving('--tick', '100')
    expect(program.out).to.match(/^127\.0\.0\.1:\d+\n$/)
    const zk = await connect(program.out.trim(), { sessionTimeout: 100 })
    expect(zk.sessionTimeout).to.equal(200)
    await zk.close()
    program.kill('SIGINT')
    const { status, err } = await program.ended
    expect([status, err]).to.deep.equal([130, ''])
  })

  it('begins with the nodes that zkwire export has printed, whatever their ACLs allow', async () => {
    const lines = [
      { path: '/seed', data: 'text', acl: ['digest:ann:eUDvaSRRsAxxxxxxxxxxxxxxxxx=:cdrwa'] },
      { path: '/seed/below', hex: 'ff00' },
      { path: '/seed/ttl', kind: 'ttl', ttl: 60_000 },
    ]
    const program = await serving('--seed', fileWith(lines.map(each => `${JSON.stringify(each)}\n`).join('')))
    const env = { ZKWIRE_SERVER: program.out.trim() }
    expect((await zkwire(['get', '/seed/below'], { env })).out).to.equal('ff00\n')
    expect((await zkwire(['get', '/seed'], { env })).err).to.match(/^zkwire get: NOAUTH/)
    program.kill('SIGTERM')
    expect((await program.ended).status).to.equal(143)
  })

  it('ends with one line if the file, the port or the tick is wrong', async () => {
    const taken = await serving()
    const port = taken.out.trim().split(':')[1] ?? ''
    for (const [args, expected, message] of [
      [['--seed', fileWith('{"path":"/a"}\nno json\n')], 64, /^zkwire import: line 2 of the input: [^\n]+\n$/],
      [
        ['--seed', fileWith('{"path":"/a","acl":["digest:x:r"]}\n', 'refused')],
        1,
        /^zkwire import: INVALIDACL: [^\n]+\n$/,
      ],
      [['--seed', join(directory, 'missing')], 64, /^zkwire serve: --seed: cannot read \S+ \(ENOENT\)[^\n]*\n$/],
      [['--port', '70000'], 64, /^zkwire serve: --port: 70000 is not a port[^\n]*\n$/],
      [['--tick', '0'], 64, /^zkwire serve: --tick: [^\n]+\n$/],
      [['--port', port], 1, /^zkwire serve: [^\n]*EADDRINUSE[^\n]*\n$/],
    ] as const) {
      const { status, out, err } = await zkwire(['serve', '--port', '0', ...args])
      expect(err).to.match(message)
      expect([status, out]).to.deep.equal([expected, ''])
    }
    taken.kill('SIGINT')
    await taken.ended
  })
})

describe('zkwire playground', () => {
  it('prints its address, serves the page on loopback and nothing else, and ends at Ctrl-C', async () => {
    const program = new Program(['playground', '--port', '0'])
    await until(() => program.out.includes('\n'))
    expect(program.out).to.match(/^http:\/\/127\.0\.0\.1:\d+\/\n$/)
    const address = program.out.trim()
    const page = await fetch(address)
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    expect(await page.text()).to.match(/^<!doctype html>[^]*Content-Security-Policy[^]*<\/html>\n$/)
    expect((await fetch(`${address}package.json`)).status).to.equal(404)
    expect((await fetch(address, { method: 'POST' })).status).to.equal(404)
    program.kill('SIGINT')
    const { status, err } = await program.ended
    expect([status, err]).to.deep.equal([130, ''])
  })

  it('ends with one line if its port is wrong or taken', async () => {
    const taken = new Program(['playground', '--port', '0'])
    await until(() => taken.out.includes('\n'))
    const port = /:(\d+)\//.exec(taken.out)?.[1] ?? ''
    for (const [value, expected, message] of [
      ['70000', 64, /^zkwire playground: --port: 70000 is not a port[^\n]*\n$/],
      [port, 1, /^zkwire playground: [^\n]*EADDRINUSE[^\n]*\n$/],
    ] as const) {
      const { status, out, err } = await zkwire(['playground', '--port', value])
      expect(err).to.match(message)
      expect([status, out]).to.deep.equal([expected, ''])
    }
    taken.kill('SIGINT')
    await taken.ended
  })
})
