// Options of node:tls that are left out, of a wrong type, or functions that throw.
import { expect } from 'chai'
import { createServer, type Server as TlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { connect, ZooKeeperError, type ConnectOptions, type TlsOptions } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { CertificateAuthority } from '../support/certificates.ts'

describe('an option of tls', () => {
  let ca: CertificateAuthority
  let server: Server
  before(async () => {
    ca = await CertificateAuthority.start('options')
    const { cert, key } = await ca.issue('server', 'IP:127.0.0.1,DNS:localhost')
    server = await Server.start({ tls: { cert, key } })
  })
  after(async () => {
    await server.close()
    await ca.close()
  })

  /** Returns the error of connect(); undefined if it connected. A test that waits for a timeout fails. */
  const errorWith = async (tls: object, servers = server.connectString): Promise<ZooKeeperError | undefined> => {
    const options = { tls: { ca: ca.cert, ...tls }, connectTimeout: 600_000, sessionTimeout: 10_000 } as ConnectOptions
    return connect(servers, options).then(
      zk => zk.close().then(() => undefined),
      (error: unknown) => {
        expect(error).to.be.an.instanceOf(ZooKeeperError)
        return error as ZooKeeperError
      },
    )
  }

  for (const value of [undefined, null])
    it(`counts as left out if it is ${value}`, async () => {
      const names = [
        'checkServerIdentity',
        'minDHSize',
        'servername',
        'lookup',
        'pskCallback',
        'secureContext',
        'ciphers',
      ]
      const more = [
        'cert',
        'key',
        'passphrase',
        'session',
        'ALPNProtocols',
        'rejectUnauthorized',
        'host',
        'port',
        'signal',
      ]
      for (const name of [...names, ...more, 'minVersion', 'maxVersion', 'timeout', 'family', 'hints', 'localAddress'])
        expect((await errorWith({ [name]: value }))?.message, name).to.equal(undefined)
      const all = Object.fromEntries([...names, ...more].map(name => [name, value]))
      expect((await errorWith(all))?.message).to.equal(undefined)
    })

  const wrong: Record<string, unknown[]> = {
    ...{ checkServerIdentity: ['x', {}], pskCallback: ['x'], lookup: ['x', 5], minDHSize: ['1024', 0, NaN] },
    ...{ servername: [5], ALPNProtocols: [5, [5]], session: ['x', {}], secureContext: [{}, 5], ciphers: [5] },
    ...{ ca: [5], cert: [5, 'x'], key: [{}], passphrase: [5], maxVersion: ['x'], signal: ['x'], timeout: ['x'] },
    ...{ localAddress: ['x'], localPort: ['x'], family: ['x', 5], hints: ['x'], highWaterMark: ['x'] },
    ...{ autoSelectFamily: ['x'], host: ['elsewhere'], port: [1], path: ['/socket'], socket: [{}] },
  }
  for (const [name, values] of Object.entries(wrong))
    it(`is refused at once, and named, if it is a wrong ${name}`, async () => {
      for (const value of values) {
        // One that depends on another option.
        const error = await errorWith(name === 'passphrase' ? { key: 'x', passphrase: value } : { [name]: value })
        expect(error?.code, `${name} ${String(value)}`).to.equal('BADARGUMENTS')
        expect(error?.message)
          .to.match(/tls[.:] ?/)
          .and.not.to.match(/bug in Node/)
      }
    })

  it('is refused if all of them are an array', async () => {
    const error = await connect(server.connectString, { tls: [] as TlsOptions }).catch((error: unknown) => error)
    expect(String(error)).to.match(
      /BADARGUMENTS: .*tls must be true, false, options of node:tls or a function that returns them, not an array/,
    )
  })

  const checks: Record<string, [(...values: never[]) => unknown, RegExp]> = {
    'an Error': [() => new Error('not this host'), /TLS: not this host/],
    'a string': [() => 'no', /TLS: checkServerIdentity must return an Error or undefined, and returned a string/],
    'a promise': [() => Promise.resolve(), /TLS: checkServerIdentity must .* returned a promise/],
    'a promise that is rejected': [() => Promise.reject(new Error('no')), /checkServerIdentity must .* a promise/],
    'nothing, and throws': [
      () => {
        throw new Error('the check failed')
      },
      /TLS: the check failed/,
    ],
    'nothing, and throws what is no Error': [
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- the caller's function may
        throw 'the check failed'
      },
      /TLS: checkServerIdentity threw the check failed/,
    ],
  }
  for (const [title, [checkServerIdentity, message]] of Object.entries(checks))
    it(`refuses the certificate for good if checkServerIdentity returns ${title}`, async () => {
      const error = await errorWith({ checkServerIdentity })
      expect(error?.code).to.equal('PROTOCOL')
      expect(error?.message).to.match(message)
    })

  it('accepts the certificate if checkServerIdentity returns undefined or false', async () => {
    for (const result of [undefined, false])
      expect((await errorWith({ checkServerIdentity: () => result }))?.message).to.equal(undefined)
  })

  it('fails the handshake if pskCallback throws', async () => {
    const psk: TlsServer = createServer({
      ciphers: 'PSK',
      maxVersion: 'TLSv1.2',
      pskCallback: () => Buffer.alloc(16, 1),
    })
    psk.on('tlsClientError', () => undefined).listen(0, '127.0.0.1')
    await once(psk, 'listening')
    let called = 0
    const pskCallback = () => {
      called++
      throw new Error('there is no key')
    }
    const { port } = psk.address() as AddressInfo
    const error = await errorWith({ ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback }, `127.0.0.1:${port}`)
    psk.close()
    expect(error?.code).to.equal('PROTOCOL')
    expect(called).to.be.above(0)
  })

  describe('servername', () => {
    const names: string[] = []
    let named: Server
    before(async () => {
      const { cert, key } = await ca.issue('named', 'DNS:zk.example,IP:127.0.0.1')
      const SNICallback = (name: string, done: (error: null) => void) => {
        names.push(name)
        done(null)
      }
      named = await Server.start({ tls: { cert, key, SNICallback } })
    })
    after(() => named.close())

    for (const [name, sent] of [
      ['zk.example', ['zk.example']],
      // An absolute name of DNS. RFC 6066 wants it without the dot.
      ['zk.example.', ['zk.example']],
      ['::1', undefined],
      ['zk1.example', undefined],
    ] as const)
      it(`${sent === undefined ? 'is refused' : 'is sent without a dot at its end'}: ${name}`, async () => {
        names.length = 0
        const error = await errorWith({ servername: name }, named.connectString)
        if (sent === undefined) expect(error).to.have.property('code')
        else expect([error, names]).to.deep.equal([undefined, sent])
      })
  })

  describe('of a function', () => {
    const valid = () => ({ ca: ca.cert })
    const errorOf = (tls: unknown, options: ConnectOptions = {}) =>
      connect(server.connectString, { ...options, tls } as ConnectOptions).then(
        zk => zk.close().then(() => undefined),
        (error: unknown) => error as ZooKeeperError,
      )

    const failures: Record<string, (error: Error) => unknown> = {
      throws: error => {
        throw error
      },
      rejects: error => Promise.reject(error),
      'returns half of a certificate': () => ({ ca: ca.cert, cert: ca.cert.slice(0, 100) }),
      'returns a certificate without its authority': () => ({}),
    }
    for (const [title, fails] of Object.entries(failures)) {
      it(`is asked for again if the function ${title}`, async () => {
        let calls = 0
        const missing = Object.assign(new Error('ECONNREFUSED'), { code: 'ECONNREFUSED' })
        expect(await errorOf(() => (++calls < 3 ? fails(missing) : valid()))).to.equal(undefined)
        expect(calls).to.equal(3)
      })

      it(`is asked for until connect() ends if the function ${title} each time`, async () => {
        const stop = new AbortController()
        const messages: string[] = []
        const onConnectionError = ({ code, message }: ZooKeeperError) => {
          if (messages.push(`${code} ${message}`) === 3) stop.abort('enough')
        }
        const unreadable = Object.assign(new Error('no\u0007file'), { code: 'ENOENT' })
        const options = { connectTimeout: 600_000, onConnectionError, signal: stop.signal }
        expect(await errorOf(() => fails(unreadable), options)).to.equal('enough')
        expect(messages).to.have.length(3)
        for (const message of messages)
          expect(message)
            .to.match(/^NOSERVER .*(tls: (no.*file|tls: )|TLS: )/)
            .and.not.include('\u0007')
      })
    }

    for (const value of [undefined, null, true, 'pem', [], { servername: 5 }, { host: 'x' }, { ca: 5 }, { hints: 'x' }])
      it(`ends connect() at once if the function returns ${JSON.stringify(value)}`, async () => {
        const error = await errorOf(() => Promise.resolve(value), { connectTimeout: 600_000 })
        expect(error?.code).to.equal('PROTOCOL')
        expect(error?.message).to.match(/function tls returned|tls: |TLS: /)
      })

    it('opens no connection if the attempt is over when the function returns', async () => {
      const stop = new AbortController()
      let answer: (options: TlsOptions) => void = () => undefined
      let looksUp = 0
      const asked = new Promise<void>(resolve => {
        const ask = () => {
          resolve()
          return new Promise<TlsOptions>(resolve => (answer = resolve))
        }
        const options = { tls: ask, signal: stop.signal, attemptTimeout: 600_000, connectTimeout: 600_000 }
        connect('localhost:1', options).catch(() => undefined)
      })
      await asked
      stop.abort()
      answer({ lookup: () => void looksUp++ })
      await new Promise(resolve => setImmediate(resolve))
      expect(looksUp).to.equal(0)
    })
  })
})
