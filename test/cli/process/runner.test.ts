// What all commands of `zkwire` share: arguments, exit statuses, connections, output.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect, creatorAllACL, type Client } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { freePort } from '../../../environment/free-port.ts'
import { main, zkwire } from './program.ts'

describe('zkwire', function () {
  this.timeout(30_000)
  let server: Server
  let zk: Client
  let env: Record<string, string>
  let directory: string

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'zkwire-cli-'))
    server = await Server.start({ saslUsers: { bob: 'b0b-secret' } })
    zk = await connect(server.connectString, { auth: [{ scheme: 'digest', auth: 'ann:s3cret' }] })
    await zk.create('/text', 'two\nlines')
    await zk.create('/private', 'mine', { acl: creatorAllACL })
    env = { ZKWIRE_SERVER: server.connectString }
  })
  after(async () => {
    await zk.close()
    await server.close()
    rmSync(directory, { recursive: true })
  })

  const fileWith = (text: string): string => {
    const file = join(directory, 'file')
    writeFileSync(file, text)
    return file
  }

  it('takes the options of a connection before the command too', async () => {
    const first = await zkwire(['--server', server.connectString, '--json', 'ls', '/'])
    expect([first.status, first.err]).to.deep.equal([0, ''])
    expect(JSON.parse(first.out)).to.include('text')
  })

  it('waits for a server as long as --connect-timeout says, also before a lock', async () => {
    for (const command of [
      ['get', '/'],
      ['lock', '/l', '--wait', '60', '--', 'true'],
    ]) {
      const { status, err } = await zkwire([
        '--connect-timeout',
        '0.2',
        '-s',
        `127.0.0.1:${await freePort()}`,
        ...command,
      ])
      expect(err).to.match(/^zkwire \w+: CONNECTTIMEOUT: /)
      expect(status).to.equal(69)
    }
  })

  describe('with wrong arguments, prints one line that says what to do, and ends with 64:', () => {
    for (const [args, message] of [
      [['gte', '/'], /^zkwire: there is no command "gte"; did you mean get\? \(see zkwire help\)\n$/],
      [['get'], /^zkwire get: the argument PATH is missing \(see zkwire help get\)\n$/],
      [['get', 'a'], /^zkwire get: PATH: "a" is not the path of a node: a path must start with \/ \(.*\)\n$/],
      [['get', '/', '/'], /^zkwire get: there are 2 arguments, and only 1 expected \(.*\)\n$/],
      [['--recursive=S3CRET', 'ls', '/'], /^zkwire: --recursive: write the command first, and then its options .*\n$/],
      [['--auth'], /^zkwire: --auth: write the command first, and then its options and their values \(.*\)\n$/],
      [['get', '--jsno', '/'], /^zkwire get: Unknown option '--jsno' \(.*\)\n$/],
      [['set', '/', '-5'], /^zkwire set: Unknown option '-5': write -- before an argument .*\n$/],
      [['set', '/', 'x', '--version', '-1'], /^zkwire set: Option '.*--version' .*: write --version=VALUE \(.*\)\n$/],
      [['get', '--timeout', 'soon', '/'], /^zkwire get: --timeout: "soon" is not a number of seconds.*\n$/],
      [['get', '--server', 'a:b:c', '/'], /^zkwire get: BADARGUMENTS: .*"a:b:c".*\n$/],
      [['get', '--ca', '/missing', '/'], /^zkwire get: --ca: cannot read \/missing \(ENOENT\) \(.*\)\n$/],
      [['get', '--auth', 'S3CRET', '/'], /^zkwire get: --auth: a line of credentials has no scheme: .*\n$/],
      [['get', '--sasl', 'S3CRET', '/'], /^zkwire get: --sasl: write USER:PASSWORD, or @FILE .*\n$/],
    ] as const)
      it(args.join(' '), async () => {
        const { status, out, err } = await zkwire(args)
        expect(err).to.match(message)
        expect(err).not.to.contain('S3CRET')
        expect([status, out]).to.deep.equal([64, ''])
      })
  })

  it('prints one line and ends with 69 if there is no server', async () => {
    const { status, err } = await zkwire(['get', '/', '--server', `127.0.0.1:${await freePort()}`])
    expect(err).to.match(/^zkwire get: NOSERVER: .*connection refused.*\n$/)
    expect(status).to.equal(69)
  })

  it("prints ZooKeeper's code and ends with 1 if the server refuses the request", async () => {
    const { status, err } = await zkwire(['get', '/missing'], { env })
    expect(err).to.match(/^zkwire get: NONODE: getData \/missing: .*\n$/)
    expect(status).to.equal(1)
  })

  it('names its own option, and not a method of the library, if the session may not read a node', async () => {
    const { status, err } = await zkwire(['get', '/private'], { env })
    expect(err).to.match(/^zkwire get: NOAUTH: .*; authenticate by --auth as a permitted identity\n$/)
    expect(status).to.equal(1)
  })

  it('finds its server in --server, $ZKWIRE_SERVER or $ZK_HOSTS, in this order, with a chroot', async () => {
    const other = `127.0.0.1:${await freePort()}`
    const { connectString } = server
    await zk.create('/chroot', '')
    await zk.create('/chroot/a', 'below')
    expect((await zkwire(['get', '/text'], { env: { ZK_HOSTS: connectString } })).out).to.equal('two\nlines\n')
    expect((await zkwire(['get', '/text'], { env: { ZK_HOSTS: other, ...env } })).status).to.equal(0)
    const given = await zkwire(['get', '-s', `${connectString}/chroot`, '/a'], { env: { ZKWIRE_SERVER: other } })
    expect(given.out).to.equal('below\n')
  })

  describe('authenticates', () => {
    const mine = async (args: string[], more: Record<string, string> = {}) => {
      const { out, err } = await zkwire(['get', '/private', ...args], { env: { ...env, ...more } })
      expect(err).to.equal('')
      return out
    }

    it('with --auth, with the lines of a file, and with $ZKWIRE_AUTH', async () => {
      expect(await mine(['--auth', 'digest:ann:s3cret'])).to.equal('mine\n')
      expect(await mine(['--auth', `@${fileWith('digest:ann:s3cret\ndigest:bob:other\n')}`])).to.equal('mine\n')
      expect(await mine([], { ZKWIRE_AUTH: 'digest:ann:s3cret' })).to.equal('mine\n')
    })

    it('with SASL, and never prints a password that is wrong', async () => {
      const right = fileWith('bob:b0b-secret\n')
      expect((await zkwire(['get', '/text', '--sasl', `@${right}`], { env })).status).to.equal(0)
      const wrong = await zkwire(['get', '/text'], { env: { ...env, ZKWIRE_SASL: 'bob:wr0ng' } })
      expect(wrong.err).to.match(/^zkwire get: AUTHFAILED: /)
      expect(wrong.err).not.to.contain('wr0ng')
      expect(wrong.status).to.equal(1)
    })
  })

  it('closes its session, so that no session is left', async () => {
    await zkwire(['get', '/text'], { env })
    expect(server.snapshot().sessions.map(({ id }) => id)).to.deep.equal([zk.sessionId])
  })

  it('ends with 0 if the reader of its output closes it', async () => {
    await zk.create('/big', 'x'.repeat(1_000_000))
    const command = `'${process.execPath}' '${main}' get /big | head -c 10; echo "\${PIPESTATUS[0]}"`
    // Not execFileSync(), which would stop the embedded server.
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      env: { PATH: process.env['PATH'], ...env },
    })
    expect(stdout).to.equal(`${'x'.repeat(10)}0\n`)
  })

  it('prints its version, and help', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect((await zkwire(['--version'])).out).to.equal(`${version}\n`)
    const help = await zkwire([])
    expect(help.out).to.equal((await zkwire(['help'])).out)
    expect((await zkwire(['help', 'get'])).out).to.equal((await zkwire(['get', '--help'])).out)
  })
})
