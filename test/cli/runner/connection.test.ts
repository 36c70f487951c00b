// The options of a connection: each reaches connect(), in the right unit.
import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectionOptions, targetOf } from '../../../src/cli/runner/connection.ts'
import { UsageError } from '../../../src/cli/runner/failure.ts'
import { failureOf } from '../../support/settled.ts'
import { systemClock } from '../../../src/runtime/clock.ts'

describe('the options of a connection', () => {
  let directory: string
  let file: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'zkwire-options-'))
    file = join(directory, 'file')
    writeFileSync(file, 'contents')
  })
  after(() => rmSync(directory, { recursive: true }))

  const given = (values: object, env: Record<string, string> = {}) =>
    targetOf({ auth: [], tls: false, 'read-only': false, ...values }, env, systemClock)

  it('have these defaults', async () => {
    const { servers, options } = await given({})
    expect(servers).to.equal('localhost:2181')
    expect(options).to.deep.include({ sessionTimeout: undefined, auth: [], readOnly: false, clock: systemClock })
    expect(options).not.to.have.any.keys('tls', 'sasl')
  })

  const cases: Record<keyof typeof connectionOptions, () => Promise<void>> = {
    async server() {
      expect((await given({ server: 'a:1/x' }, { ZKWIRE_SERVER: 'b:1' })).servers).to.equal('a:1/x')
      expect((await given({}, { ZKWIRE_SERVER: 'b:1', ZK_HOSTS: 'c:1' })).servers).to.equal('b:1')
      expect((await given({}, { ZK_HOSTS: 'c:1' })).servers).to.equal('c:1')
    },
    async timeout() {
      expect((await given({ timeout: '2.5' })).options.sessionTimeout).to.equal(2500)
    },
    async 'connect-timeout'() {
      expect((await given({ 'connect-timeout': '2.5' })).options.connectTimeout).to.equal(2500)
    },
    async auth() {
      const { options } = await given({ auth: ['digest:ann:s:1', 'x509:cn'] }, { ZKWIRE_AUTH: 'ip:' })
      expect(options.auth).to.deep.equal([
        { scheme: 'digest', auth: 'ann:s:1' },
        { scheme: 'x509', auth: 'cn' },
        { scheme: 'ip', auth: '' },
      ])
    },
    async sasl() {
      expect((await given({ sasl: 'ann:secret' })).options.sasl).to.be.an('object')
      expect((await given({}, { ZKWIRE_SASL: 'ann:secret' })).options.sasl).to.be.an('object')
    },
    async tls() {
      expect((await given({ tls: true })).options.tls).to.equal(true)
    },
    async ca() {
      expect((await given({ ca: file })).options.tls).to.deep.equal({ ca: Buffer.from('contents') })
    },
    async cert() {
      expect((await given({ cert: file })).options.tls).to.deep.equal({ cert: Buffer.from('contents') })
    },
    async key() {
      const passphrase = { ZKWIRE_KEY_PASSPHRASE: 'secret' }
      expect((await given({ key: file }, passphrase)).options.tls).to.deep.equal({
        key: Buffer.from('contents'),
        passphrase: 'secret',
      })
    },
    async 'max-request'() {
      expect((await given({ 'max-request': '2000000' })).options.maxRequestBytes).to.equal(2_000_000)
      expect((await given({}, { ZKWIRE_MAX_REQUEST: '2000000' })).options.maxRequestBytes).to.equal(2_000_000)
    },
    async 'max-reply'() {
      const { options } = await given({ 'max-reply': '100000000' }, { ZKWIRE_MAX_REPLY: '2000' })
      expect(options.maxReplyBytes).to.equal(100_000_000)
      expect((await given({}, { ZKWIRE_MAX_REPLY: '2000' })).options.maxReplyBytes).to.equal(2000)
      expect(await failureOf(given({ 'max-reply': '16M' }))).to.be.an.instanceOf(UsageError)
    },
    async 'read-only'() {
      expect((await given({ 'read-only': true })).options.readOnly).to.equal(true)
    },
  }
  it('are read from files with a byte order mark too, as editors of Windows write them', async () => {
    const marked = join(directory, 'marked')
    writeFileSync(marked, '\ufeffdigest:ann:secret\r\nx509:cn\r\n')
    expect((await given({ auth: [`@${marked}`] })).options.auth).to.deep.equal([
      { scheme: 'digest', auth: 'ann:secret' },
      { scheme: 'x509', auth: 'cn' },
    ])
    writeFileSync(marked, '\ufeff-----BEGIN')
    for (const name of ['ca', 'cert', 'key'])
      expect((await given({ [name]: marked })).options.tls).to.deep.equal({ [name]: Buffer.from('-----BEGIN') })
    for (const order of ['utf16le', 'big'] as const) {
      const bytes = Buffer.from('\ufeffdigest:ann:secret', 'utf16le')
      writeFileSync(marked, order === 'big' ? bytes.swap16() : bytes)
      const error = await failureOf(given({ auth: [`@${marked}`] }))
      expect(String(error)).to.match(/--auth: the file is UTF-16/)
    }
  })

  for (const [name, test] of Object.entries(cases)) it(`reach connect() with --${name}`, test)
})
