// TLS against real servers with good and bad certificates, and what a wrong one is told as.
import { expect } from 'chai'
import { once } from 'node:events'
import {
  connect as connectTcp,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type TlsOptions as TlsServerOptions,
  type TLSSocket,
} from 'node:tls'
import { connect, ZooKeeperError, type Client, type ConnectOptions } from '../../src/index.ts'
import { CertificateAuthority, type Certificate } from '../support/certificates.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { startSecureZooKeeper, type SecureZooKeeper } from '../support/secure-zookeeper.ts'
import { until } from '../support/until.ts'

/** So long that a test which waits for it to be over has failed. */
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

  /** What connect() rejects with, long before its time is over. */
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

  describe('to a server whose certificate is right', () => {
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
      await zk.create('/w')
      expect(await fired).to.equal('NodeCreated')
      expect(zk.sessionId).to.equal(sessionId)
      await zk.deleteRecursive('/large')
      await zk.deleteRecursive('/w')
      await zk.close()
    })

    it('gives the certificate of a client that is asked for one', async () => {
      const { cert, key } = clientCertificate
      const zk = await connect(`127.0.0.1:${demanding.securePort}`, { ...PATIENT, tls: { ca: ca.cert, cert, key } })
      expect((await zk.whoAmI()).map(({ authScheme, user }) => `${authScheme} ${user}`)).to.include('x509 CN=client')
      await works(zk)
    })

    it('is verified unless the caller says otherwise', async () => {
      await works(await connect(`127.0.0.1:${misnamed.securePort}`, { ...PATIENT, tls: { rejectUnauthorized: false } }))
      const checked: string[] = []
      const checkServerIdentity = (host: string) => void checked.push(host)
      const tls = { ca: ca.cert, checkServerIdentity }
      await works(await connect(`127.0.0.1:${misnamed.securePort}`, { ...PATIENT, tls }))
      expect(checked).to.deep.equal(['127.0.0.1'])
    })

    it('is verified though a variable of the environment says otherwise', async () => {
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
        'where nobody trusted has signed the certificate',
        () => `127.0.0.1:${good.securePort}`,
        () => ({ tls: true }),
        /unable to (verify|get)|self-signed/,
      ],
      [
        'where another authority is trusted',
        () => `localhost:${good.securePort}`,
        () => ({ tls: { ca: otherCa.cert } }),
        /unable to (verify|get)/,
      ],
      [
        'where the certificate has expired',
        () => `127.0.0.1:${expired.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /certificate has expired/,
      ],
      [
        'where the certificate is for another address',
        () => `127.0.0.1:${misnamed.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the certificate is not for 127\.0\.0\.1: .*127\.0\.0\.9/,
      ],
      [
        'where the certificate is for another name',
        () => `localhost:${misnamed.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the certificate is not for localhost: .*zk\.example/,
      ],
      [
        'where the server wants a client certificate',
        () => `127.0.0.1:${demanding.securePort}`,
        () => ({ tls: { ca: ca.cert } }),
        /the server wants a client certificate/,
      ],
      [
        'where the server does not know the signer of the client certificate',
        () => `127.0.0.1:${demanding.securePort}`,
        () => ({ tls: { ca: ca.cert, cert: strangersCertificate.cert, key: strangersCertificate.key } }),
        /the server wants a client certificate, or another one/,
      ],
      [
        'where TLS meets a port in plaintext',
        () => plain.connectString,
        () => ({ tls: { ca: ca.cert } }),
        /the server speaks plaintext on this port/,
      ],
      [
        'where TLS meets the plaintext port of a server that has both',
        () => good.server.connectString,
        () => ({ tls: { ca: ca.cert } }),
        /the server speaks plaintext on this port/,
      ],
      [
        'where plaintext meets a port for TLS',
        () => `127.0.0.1:${good.securePort}`,
        () => ({}),
        /the server speaks TLS on this port/,
      ],
    ]
    for (const [what, servers, options, said] of rows) {
      it(what, async () => {
        const error = await failure(servers(), options())
        expect(error).to.include({ code: 'PROTOCOL', op: 'connect', fate: 'notSent' })
        expect(error.message).to.match(said).and.to.contain(servers())
        expect(error.cause).to.be.an.instanceOf(Error)
      })
    }

    it('when every host of a round has failed for good, and not before', async () => {
      const tls = { ca: ca.cert }
      const hopeless = `127.0.0.1:${misnamed.securePort},127.0.0.1:${expired.securePort}`
      expect(await failure(hopeless, { tls })).to.include({ code: 'PROTOCOL' })
      for (let i = 0; i < 5; i++)
        await works(await connect(`${hopeless},127.0.0.1:${good.securePort}`, { ...PATIENT, tls }))
    })

    it('but waits for a host that may yet come up', async () => {
      const nobody = `127.0.0.1:1,127.0.0.1:${misnamed.securePort}`
      const error = await failure(nobody, { tls: { ca: ca.cert }, connectTimeout: 1000 })
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    })

    it('of keys that are none, at once', async () => {
      const error = await failure('127.0.0.1:1', { tls: { cert: 'no certificate', key: 'no key' } })
      expect(error).to.include({ code: 'BADARGUMENTS' })
    })

    it('of a dial that would take the place of TLS', async () => {
      const dial = () => expect.fail('it was dialled')
      expect(await failure('127.0.0.1:1', { tls: true, dial })).to.include({ code: 'BADARGUMENTS' })
    })
  })

  describe('with a door before a real server', () => {
    const doors: Server[] = []
    const callers = new Set<Socket>()
    afterEach(() => {
      for (const door of doors.splice(0)) door.close()
      for (const caller of callers) caller.destroy()
    })

    /** What comes in through TLS goes on in plaintext, so that one port can show one certificate after the other. */
    const openDoor = async (
      options: TlsServerOptions,
      onSocket: (socket: TLSSocket) => void = () => undefined,
    ): Promise<TlsServer> => {
      const door = createTlsServer({ ...serverCertificate, ...options }, socket => {
        onSocket(socket)
        const behind = connectTcp(plain.port, plain.host)
        socket.pipe(behind).pipe(socket)
        for (const [from, to] of [
          [socket, behind],
          [behind, socket],
        ] as const)
          from.on('error', () => undefined).on('close', () => to.destroy())
      })
      await listening(door)
      return door
    }
    const listening = async (door: Server) => {
      doors.push(door)
      door.on('connection', (caller: Socket) => {
        callers.add(caller)
        caller.once('close', () => callers.delete(caller))
      })
      door.listen(0, '127.0.0.1')
      await once(door, 'listening')
    }
    const portOf = (door: Server) => (door.address() as AddressInfo).port

    it('keeps trying for a session that there is, whatever becomes of the certificate', async () => {
      const sockets = new Set<TLSSocket>()
      const door = await openDoor({}, socket => sockets.add(socket))
      const zk = await connect(`127.0.0.1:${portOf(door)}`, { ...PATIENT, tls: { ca: ca.cert } })
      door.setSecureContext(strangersCertificate)
      let refusals = 0
      door.on('tlsClientError', () => refusals++)
      for (const socket of sockets) socket.destroy()
      await until(() => refusals >= 3)
      expect(zk.state).to.equal('suspended')
      door.setSecureContext(serverCertificate)
      await zk.exists('/')
      expect(zk.state).to.equal('connected')
      await zk.close()
    })

    it('asks for a host by name, and for an address by none', async () => {
      const asked: unknown[] = []
      const door = await openDoor({}, ({ servername }) => asked.push(servername))
      for (const host of ['localhost', '127.0.0.1'])
        await works(await connect(`${host}:${portOf(door)}`, { ...PATIENT, tls: { ca: ca.cert } }))
      expect(asked).to.deep.equal(['localhost', false])
    })

    it('speaks 1.2 at least, whatever the caller says', async () => {
      const versions: unknown[] = []
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      const door = await openDoor(old, socket => versions.push(socket.getProtocol()))
      const tls = { ca: ca.cert, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      expect((await failure(`127.0.0.1:${portOf(door)}`, { tls })).message).to.match(/TLS: .*protocol/)
      expect(versions).to.deep.equal([])
      const modern = await openDoor({ minVersion: 'TLSv1.3' }, socket => versions.push(socket.getProtocol()))
      await works(await connect(`127.0.0.1:${portOf(modern)}`, { ...PATIENT, tls: { ca: ca.cert } }))
      expect(versions).to.deep.equal(['TLSv1.3'])
    })

    it('knows a server of TLS that answers plaintext with an alert', async () => {
      const door = createTcpServer(socket =>
        socket.on('error', () => undefined).end(Buffer.from('15030300020246', 'hex')),
      )
      await listening(door)
      expect((await failure(`127.0.0.1:${portOf(door)}`, {})).message).to.match(/the server speaks TLS on this port/)
    })

    it('knows a server that answers TLS in another language', async () => {
      const door = createTcpServer(socket =>
        socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      )
      await listening(door)
      const error = await failure(`127.0.0.1:${portOf(door)}`, { tls: true })
      expect(error.message).to.match(/the server does not speak TLS on this port/)
    })

    it('has a handshake that is never answered end within the time of an attempt', async () => {
      const heard: Buffer[] = []
      const door = createTcpServer(socket => socket.on('error', () => undefined).on('data', chunk => heard.push(chunk)))
      await listening(door)
      const options = { tls: true, attemptTimeout: 200, connectTimeout: 700 }
      const error = await failure(`127.0.0.1:${portOf(door)}`, options)
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
      expect(String(error.cause)).to.match(/no session within 200 ms/)
      expect(
        heard.every(chunk => chunk[0] === 22),
        'nothing but handshakes of TLS',
      ).to.equal(true)
    })

    for (const tls of [true, false]) {
      it(`does not take ${tls ? 'one of TLS' : 'one in plaintext'} that closes without a word for another`, async () => {
        const heard: Buffer[] = []
        const door = createTcpServer(socket =>
          socket
            .on('error', () => undefined)
            .once('data', chunk => {
              heard.push(chunk)
              socket.destroy()
            }),
        )
        await listening(door)
        const options = { tls, connectTimeout: 700 }
        expect(await failure(`127.0.0.1:${portOf(door)}`, options)).to.include({ code: 'CONNECTTIMEOUT' })
        const questions = heard.filter(chunk => chunk.equals(Buffer.from('srvr')) || chunk.length === 9)
        expect(questions, 'asked once').to.have.length(1)
        if (tls) expect(heard.filter(chunk => chunk[0] !== 22)).to.deep.equal(questions)
      })
    }
  })
})
