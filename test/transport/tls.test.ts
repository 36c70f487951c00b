// TLS with real servers, whose certificates are valid or invalid, and the errors that result.
import { expect } from 'chai'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect as connectTcp, createServer as createTcpServer, type AddressInfo, Socket, type Server } from 'node:net'
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type TlsOptions as TlsServerOptions,
  type TLSSocket,
} from 'node:tls'
import { mock } from 'node:test'
import { connect, ZooKeeperError, type Client, type ConnectOptions } from '../../src/index.ts'
import { CertificateAuthority, type Certificate } from '../support/certificates.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { startSecureZooKeeper, type SecureZooKeeper } from '../support/secure-zookeeper.ts'
import { until } from '../../environment/until.ts'

/** Timeouts so long that a test that waits for one fails. */
const PATIENT: ConnectOptions = { sessionTimeout: 10_000, connectTimeout: 60_000 }

describe('TLS', function () {
  this.timeout(60_000)

  let ca: CertificateAuthority
  let otherCa: CertificateAuthority
  let plain: ApacheZooKeeper
  let good: SecureZooKeeper
  let demanding: SecureZooKeeper
  let expired: SecureZooKeeper
  let misnamed: SecureZooKeeper
  let serverCertificate: Certificate
  let clientCertificate: Certificate
  let strangersCertificate: Certificate

  before(async () => {
    ;[ca, otherCa] = await Promise.all([CertificateAuthority.start('ours'), CertificateAuthority.start('another')])
    const forHere = 'IP:127.0.0.1,DNS:localhost'
    serverCertificate = await ca.issue('server', forHere)
    clientCertificate = await ca.issue('client', 'DNS:client')
    strangersCertificate = await otherCa.issue('stranger', 'DNS:client')
    const old = await ca.issue('old', forHere, -1)
    const elsewhere = await ca.issue('elsewhere', 'DNS:zk.example,IP:127.0.0.9')
    ;[plain, good, demanding, expired, misnamed] = await Promise.all([
      startApacheZooKeeper(),
      startSecureZooKeeper(serverCertificate, ca),
      startSecureZooKeeper(serverCertificate, ca, 'need'),
      startSecureZooKeeper(old, ca),
      startSecureZooKeeper(elsewhere, ca),
    ])
  })

  after(async () => {
    const servers = [plain, good.server, demanding.server, expired.server, misnamed.server]
    await Promise.all([...servers, ca, otherCa].map(each => each.close()))
  })

  const works = async (zk: Client) => {
    expect(await zk.exists('/zookeeper')).not.to.equal(null)
    await zk.close()
  }

  /** Returns the error that connect() rejects with. Fails unless it rejects long before its timeout. */
  const failure = async (servers: string, options: ConnectOptions): Promise<ZooKeeperError> => {
    const since = performance.now()
    const error: unknown = await connect(servers, { ...PATIENT, ...options }).then(
      zk => zk.close().then(() => 'it connected'),
      (e: unknown) => e,
    )
    expect(error).to.be.an.instanceOf(ZooKeeperError)
    expect(performance.now() - since).to.be.below(10_000)
    return error as ZooKeeperError
  }

  describe('to a server with a valid certificate', () => {
    it('works by name, and by the address in the certificate', async () => {
      for (const host of ['localhost', '127.0.0.1'])
        await works(await connect(`${host}:${good.securePort}`, { ...PATIENT, tls: { ca: ca.cert } }))
    })

    it('carries a megabyte both ways, watches, and a session over a new connection', async () => {
      const zk = await connect(`127.0.0.1:${good.securePort}`, { ...PATIENT, tls: { ca: ca.cert } })
      const data = Buffer.alloc(1_000_000, 'zk')
      await zk.create('/large', data)
      expect((await zk.getData('/large')).data?.equals(data)).to.equal(true)
      let armed: Promise<unknown> | undefined
      const fired = new Promise<string>(resolve => {
        armed = zk.exists('/w', { watch: ({ type }) => resolve(type) })
      })
      await armed
      const { sessionId } = zk
      const gone = new Promise(resolve => zk.on('state', resolve))
      await good.server.kill()
      expect(await gone).to.equal('suspended')
      await good.server.start()
      // On a busy machine the start takes longer than two thirds of the session timeout, and then calls are refused.
      await zk.retry(() => zk.create('/w'))
      expect(await fired).to.equal('NodeCreated')
      expect(zk.sessionId).to.equal(sessionId)
      await zk.deleteRecursive('/large')
      await zk.deleteRecursive('/w')
      await zk.close()
    })

    it('sends the client certificate to a server that requires one', async () => {
      const { cert, key } = clientCertificate
      const zk = await connect(`127.0.0.1:${demanding.securePort}`, { ...PATIENT, tls: { ca: ca.cert, cert, key } })
      expect((await zk.whoAmI()).map(({ authScheme, user }) => `${authScheme} ${user}`)).to.include('x509 CN=client')
      await works(zk)
    })

    it('verifies the certificate unless the caller’s options override that', async () => {
      await works(await connect(`127.0.0.1:${misnamed.securePort}`, { ...PATIENT, tls: { rejectUnauthorized: false } }))
      const checked: string[] = []
      const checkServerIdentity = (host: string) => void checked.push(host)
      const tls = { ca: ca.cert, checkServerIdentity }
      await works(await connect(`127.0.0.1:${misnamed.securePort}`, { ...PATIENT, tls }))
      expect(checked).to.deep.equal(['127.0.0.1'])
    })

    it('verifies the certificate even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      try {
        const error = await failure(`127.0.0.1:${good.securePort}`, { tls: { ca: otherCa.cert } })
        expect(error).to.include({ code: 'PROTOCOL' })
      } finally {
        delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      }
    })
  })

  describe('fails fast and says why', () => {
    const rows: [string, () => string, () => ConnectOptions, RegExp][] = [
      [
        'if no trusted authority signed the certificate',
        () => `127.0.0.1:${good.securePort}`,
        () => ({ tls: true }),
        /unable to (verify|get)|self-signed/,
      ],
      [
        'if only another authority is trusted',
        () => `localhost:${good.securePort}`,
        () => ({ tls: { ca: otherCa.cert } }),
        /unable to (verify|get)/,
      ],
      [
        'if the certificate has expired',
        () => `127.0.0.1:${expired.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /certificate has expired/,
      ],
      [
        'if the certificate is for another address',
        () => `127.0.0.1:${misnamed.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the certificate is not for 127\.0\.0\.1: .*127\.0\.0\.9/,
      ],
      [
        'if the certificate is for another name',
        () => `localhost:${misnamed.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the certificate is not for localhost: .*zk\.example/,
      ],
      [
        'if the server requires a client certificate',
        () => `127.0.0.1:${demanding.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the server requires a client certificate/,
      ],
      [
        'if the server does not trust the signer of the client certificate',
        () => `127.0.0.1:${demanding.securePort}`,
        () => ({ tls: { ca: ca.cert, cert: strangersCertificate.cert, key: strangersCertificate.key } }),
        /the server requires a client certificate, or a different one/,
      ],
      [
        'if a TLS client connects to a plaintext server',
        () => plain.connectString,
        () => ({ tls: { ca: ca.cert } }),
        /the server speaks plaintext on this port/,
      ],
      [
        'if a TLS client connects to the plaintext port of a server with both',
        () => good.server.connectString,
        () => ({ tls: { ca: ca.cert } }),
        /the server speaks plaintext on this port/,
      ],
      [
        'if a plaintext client connects to a TLS port',
        () => `127.0.0.1:${good.securePort}`,
        () => ({}),
        /the server speaks TLS on this port/,
      ],
    ]
    for (const [what, servers, options, message] of rows) {
      it(what, async () => {
        const error = await failure(servers(), options())
        expect(error).to.include({ code: 'PROTOCOL', op: 'connect', fate: 'notSent' })
        expect(error.message).to.match(message).and.to.contain(servers())
        expect(error.cause).to.be.an.instanceOf(Error)
      })
    }

    it('only after every host of a round has failed permanently', async () => {
      const tls = { ca: ca.cert }
      const hopeless = `127.0.0.1:${misnamed.securePort},127.0.0.1:${expired.securePort}`
      expect(await failure(hopeless, { tls })).to.include({ code: 'PROTOCOL' })
      for (let i = 0; i < 5; i++)
        await works(await connect(`${hopeless},127.0.0.1:${good.securePort}`, { ...PATIENT, tls }))
    })

    it('but retries a host that may yet become available', async () => {
      const servers = `127.0.0.1:1,127.0.0.1:${misnamed.securePort}`
      const error = await failure(servers, { tls: { ca: ca.cert }, connectTimeout: 1000 })
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    })

    it('if the key or the certificate cannot be parsed', async () => {
      const error = await failure('127.0.0.1:1', { tls: { cert: 'no certificate', key: 'no key' } })
      expect(error).to.include({ code: 'BADARGUMENTS' })
    })

    it('if both tls and dial are given', async () => {
      const dial = () => expect.fail('it was called')
      expect(await failure('127.0.0.1:1', { tls: true, dial })).to.include({ code: 'BADARGUMENTS' })
    })
  })

  describe('through a proxy to a real server', () => {
    const proxies: Server[] = []
    const callers = new Set<Socket>()
    afterEach(() => {
      for (const proxy of proxies.splice(0)) proxy.close()
      for (const caller of callers) caller.destroy()
    })

    /**
     * Starts a proxy that accepts TLS and connects to the server in plaintext. Its certificate can be replaced while it
     * runs.
     */
    const startProxy = async (
      options: TlsServerOptions,
      onSocket: (socket: TLSSocket) => void = () => undefined,
    ): Promise<TlsServer> => {
      const proxy = createTlsServer({ ...serverCertificate, ...options }, socket => {
        onSocket(socket)
        pipeBoth(socket, connectTcp(plain.port, plain.host))
      })
      await listening(proxy)
      return proxy
    }
    const pipeBoth = (socket: Socket, upstream: Socket) => {
      socket.pipe(upstream).pipe(socket)
      for (const [from, to] of [
        [socket, upstream],
        [upstream, socket],
      ] as const)
        from.on('error', () => undefined).on('close', () => to.destroy())
    }
    const listening = async (proxy: Server) => {
      proxies.push(proxy)
      proxy.on('connection', (caller: Socket) => {
        callers.add(caller)
        caller.once('close', () => callers.delete(caller))
      })
      proxy.listen(0, '127.0.0.1')
      await once(proxy, 'listening')
    }
    const portOf = (proxy: Server) => (proxy.address() as AddressInfo).port

    it('keeps retrying for an existing session even if the certificate becomes invalid', async () => {
      const sockets = new Set<TLSSocket>()
      const proxy = await startProxy({}, socket => sockets.add(socket))
      const zk = await connect(`127.0.0.1:${portOf(proxy)}`, { ...PATIENT, tls: { ca: ca.cert } })
      proxy.setSecureContext(strangersCertificate)
      let refusals = 0
      proxy.on('tlsClientError', () => refusals++)
      for (const socket of sockets) socket.destroy()
      await until(() => refusals >= 3)
      expect(zk.state).to.equal('suspended')
      proxy.setSecureContext(serverCertificate)
      await zk.exists('/')
      expect(zk.state).to.equal('connected')
      await zk.close()
    })

    it('keeps the session while files with the certificate are replaced under load', async () => {
      const next = await ca.issue('next', 'DNS:client')
      const last = await ca.issue('last', 'DNS:client')
      const [certFile, keyFile] = [join(ca.directory, 'rotated.crt'), join(ca.directory, 'rotated.key')]
      const write = async (cert: string, key: string) => {
        await writeFile(certFile, cert)
        await writeFile(keyFile, key)
      }
      await write(clientCertificate.cert, clientCertificate.key)
      const tls = async () => ({ ca: ca.cert, cert: await readFile(certFile), key: await readFile(keyFile) })
      const proxy = createTcpServer(socket => {
        const upstream = connectTcp(demanding.securePort, '127.0.0.1')
        pipeBoth(socket, upstream)
      })
      await listening(proxy)
      const failures: string[] = []
      const onConnectionError = ({ message }: Error) => void failures.push(message)
      const zk = await connect(`127.0.0.1:${portOf(proxy)}`, { ...PATIENT, tls, onConnectionError })
      const { sessionId } = zk
      await zk.create('/rotated')
      const stop = new AbortController()
      let writes = 0
      const load = (async () => {
        for (; !stop.signal.aborted; writes++) await zk.retry(() => zk.setData('/rotated', String(writes)))
      })()
      for (const [name, { cert, key }, before] of [
        ['next', next, clientCertificate],
        ['last', last, next],
      ] as const) {
        // First half a file, then the key of another certificate, as a rotation may leave them for a moment.
        for (const [half, problem] of [
          [cert.slice(0, 300), /tls: /],
          [cert, /mismatch/],
        ] as const) {
          await write(half, before.key)
          failures.length = 0
          for (const caller of callers) caller.destroy()
          await until(() => failures.some(failure => problem.test(failure)))
        }
        await write(cert, key)
        const known = writes
        await until(() => writes > known + 10)
        expect((await zk.whoAmI()).map(({ user }) => user)).to.include(`CN=${name}`)
      }
      stop.abort()
      await load
      expect(zk.sessionId).to.equal(sessionId)
      await works(zk)
    })

    it('sends the server name of a host name, and none for an address', async () => {
      const serverNames: unknown[] = []
      const proxy = await startProxy({}, ({ servername }) => serverNames.push(servername))
      for (const host of ['localhost', '127.0.0.1'])
        await works(await connect(`${host}:${portOf(proxy)}`, { ...PATIENT, tls: { ca: ca.cert } }))
      expect(serverNames).to.deep.equal(['localhost', false])
    })

    it('sends the option servername instead, and requires a certificate for that name', async () => {
      const serverNames: unknown[] = []
      const certificate = await ca.issue('named', 'DNS:zk.example')
      const proxy = await startProxy({ ...certificate }, ({ servername }) => serverNames.push(servername))
      const tls = { ca: ca.cert, servername: 'zk.example' }
      await works(await connect(`localhost:${portOf(proxy)}`, { ...PATIENT, tls }))
      expect(serverNames).to.deep.equal(['zk.example'])
    })

    it('sends each write at once, without Nagle’s algorithm', async () => {
      const proxy = await startProxy({})
      const setNoDelay = mock.method(Socket.prototype, 'setNoDelay')
      const zk = await connect(`localhost:${portOf(proxy)}`, { ...PATIENT, tls: { ca: ca.cert } })
      setNoDelay.mock.restore()
      const calls = setNoDelay.mock.calls.map(call => [(call.this as Socket).remotePort, ...call.arguments])
      expect(calls).to.deep.include([portOf(proxy), true])
      await works(zk)
    })

    it('uses version 1.2 or later even if the caller allows older ones', async () => {
      const versions: unknown[] = []
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      const proxy = await startProxy(old, socket => versions.push(socket.getProtocol()))
      const tls = { ca: ca.cert, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      expect((await failure(`127.0.0.1:${portOf(proxy)}`, { tls })).message).to.match(/TLS: .*protocol/)
      expect(versions).to.deep.equal([])
      const modern = await startProxy({ minVersion: 'TLSv1.3' }, socket => versions.push(socket.getProtocol()))
      await works(await connect(`127.0.0.1:${portOf(modern)}`, { ...PATIENT, tls: { ca: ca.cert } }))
      expect(versions).to.deep.equal(['TLSv1.3'])
    })

    it('recognizes a TLS server by the alert that it sends to a plaintext client', async () => {
      const proxy = createTcpServer(socket =>
        socket.on('error', () => undefined).end(Buffer.from('15030300020246', 'hex')),
      )
      await listening(proxy)
      expect((await failure(`127.0.0.1:${portOf(proxy)}`, {})).message).to.match(/the server speaks TLS on this port/)
    })

    it('closes the probe that has found a TLS server', async () => {
      let isProbeClosed: Promise<unknown> | undefined
      const proxy = createTcpServer(socket =>
        socket
          .on('error', () => undefined)
          .once('data', chunk => {
            // Only the probe begins a handshake of TLS.
            if (chunk[0] !== 22) return void socket.destroy()
            isProbeClosed = once(socket, 'close')
            socket.write(Buffer.from('15030300020246', 'hex'))
          }),
      )
      await listening(proxy)
      const error = await failure(`127.0.0.1:${portOf(proxy)}`, { attemptTimeout: 5000 })
      expect(error.message).to.match(/the server speaks TLS on this port/)
      await isProbeClosed
    })

    it('reports that the server does not speak TLS if the reply is in another protocol', async () => {
      const proxy = createTcpServer(socket =>
        socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      )
      await listening(proxy)
      const error = await failure(`127.0.0.1:${portOf(proxy)}`, { tls: true })
      expect(error.message).to.match(/the server does not speak TLS on this port/)
    })

    it('ends an unanswered handshake at attemptTimeout', async () => {
      const received: Buffer[] = []
      const proxy = createTcpServer(socket =>
        socket.on('error', () => undefined).on('data', chunk => received.push(chunk)),
      )
      await listening(proxy)
      const options = { tls: true, attemptTimeout: 200, connectTimeout: 700 }
      const error = await failure(`127.0.0.1:${portOf(proxy)}`, options)
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
      expect(String(error.cause)).to.match(/no connection within 200 ms/)
      expect(
        received.every(chunk => chunk[0] === 22),
        'nothing but handshakes of TLS',
      ).to.equal(true)
    })

    for (const tls of [true, false]) {
      it(`draws no conclusion if a server closes ${tls ? 'a TLS' : 'a plaintext'} connection without sending a byte`, async () => {
        const received: Buffer[] = []
        const proxy = createTcpServer(socket =>
          socket
            .on('error', () => undefined)
            .once('data', chunk => {
              received.push(chunk)
              socket.destroy()
            }),
        )
        await listening(proxy)
        const options = { tls, connectTimeout: 700 }
        expect(await failure(`127.0.0.1:${portOf(proxy)}`, options)).to.include({ code: 'CONNECTTIMEOUT' })
        const probes = received.filter(chunk => chunk.equals(Buffer.from('srvr')) || chunk.length === 9)
        expect(probes, 'probed once').to.have.length(1)
        if (tls) expect(received.filter(chunk => chunk[0] !== 22)).to.deep.equal(probes)
      })
    }
  })
})
