// connect() while no server accepts the session: when it gives up, and what its error says.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server as TcpServer } from 'node:net'
import { connect, PermanentError, ZooKeeperError, type ConnectOptions } from '../../src/index.ts'
import { freePort } from '../../environment/free-port.ts'
import { redial, scriptedConnect, scriptedSession, T } from '../support/scripted-session.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

const refused = () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:2181'), { code: 'ECONNREFUSED' })

/** Closes the server at the end of its scope. */
async function listening(server: TcpServer): Promise<AsyncDisposable & { address: string }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

async function failure(servers: string, options?: ConnectOptions): Promise<ZooKeeperError> {
  const error = await failureOf(connect(servers, options))
  expect(error).to.be.instanceOf(ZooKeeperError).and.to.include({ op: 'connect', fate: 'notSent' })
  return error as ZooKeeperError
}

describe('connect() without a server', () => {
  describe('on sockets', () => {
    it('rejects at once on a wrong port, and names the addresses that refused the connection', async () => {
      const port = await freePort()
      const { code, message, cause } = await failure(`127.0.0.1:${port}`)
      expect(code).to.equal('NOSERVER')
      expect(message).to.equal(
        `NOSERVER: connect: no server accepted the session (127.0.0.1:${port}: connection refused (connect ECONNREFUSED 127.0.0.1:${port}))`,
      )
      expect(cause).to.have.property('code', 'ECONNREFUSED')
    })

    it('rejects at once for an unknown host, and names it', async () => {
      const { code, message } = await failure('zk1.invalid')
      expect(code).to.equal('NOSERVER')
      expect(message).to.match(/\(zk1\.invalid:2181: .*host name.* \(getaddrinfo E\w+ zk1\.invalid\)\)$/)
    })

    it('rejects at once for an HTTP server, and quotes its answer', async () => {
      await using http = await listening(createHttpServer())
      const { code, message } = await failure(http.address)
      expect(code).to.equal('NOSERVER')
      expect(message).to.contain(`(${http.address}: not a ZooKeeper server: it answered "HTTP/1.1 400 Bad Request")`)
    })
  })

  describe('in virtual time', () => {
    it('tries every host once before it rejects, and names each with its answer', async () => {
      const { opening, server, clock } = scriptedConnect({}, 'a,b,c')
      const isSettled = trackSettled(opening)
      const failing = failureOf(opening)
      for (let attempt = 1; attempt <= 3; attempt++) {
        const connection = attempt === 1 ? await server.next() : await redial({ server, clock })
        expect(isSettled()).to.equal(false)
        connection.close(refused())
      }
      const { code, message } = (await failing) as ZooKeeperError
      expect(code).to.equal('NOSERVER')
      for (const host of ['a', 'b', 'c']) expect(message).to.contain(`${host}:2181: connection refused`)
      expect(server.connections).to.have.length(3)
      expect(clock.pendingTimers).to.equal(0)
    })

    for (const [runtime, error] of Object.entries({
      Node: { code: 'ERR_ACCESS_DENIED', message: 'getaddrinfo ERR_ACCESS_DENIED zk' },
      'Deno, for an address': { name: 'NotCapable', message: 'Requires net access to "10.0.0.1:2181"' },
      'Deno, for a name': { code: 'EPERM', syscall: 'getaddrinfo', message: 'getaddrinfo EPERM zk' },
    }))
      it(`rejects at once, also with connectTimeout, if the program may not use the network: ${runtime}`, async () => {
        const { opening, server, clock } = scriptedConnect({ connectTimeout: 60_000 })
        const failing = failureOf(opening)
        ;(await server.next()).close(Object.assign(new Error(error.message), error))
        expect(await failing).to.include({ code: 'ACCESSDENIED', fate: 'notSent' })
        expect(((await failing) as Error).message).to.contain(`zk:2181: ${error.message}`)
        expect(clock.pendingTimers).to.equal(0)
      })

    it('keeps trying until the session timeout if one host may accept the session later', async () => {
      const { opening, server, clock } = scriptedConnect({}, 'a,b')
      const failing = failureOf(opening)
      const startedAt = clock.now()
      const isSettled = trackSettled(opening)
      for (let answered = 0; clock.now() - startedAt < T;) {
        expect(isSettled()).to.equal(false)
        await clock.advance(10)
        for (; answered < server.connections.length; answered++) {
          const connection = server.connections[answered]
          if (connection?.address.host === 'a') connection.open()
          connection?.close(connection.address.host === 'a' ? undefined : refused())
        }
      }
      const { code, message } = (await failing) as ZooKeeperError
      expect(code).to.equal('CONNECTTIMEOUT')
      expect(message).to.match(/a:2181: the server closed the connection before the end of the handshake, \d+ attempts/)
      expect(message).to.match(/b:2181: connection refused \(.*\), \d+ attempts/)
    })

    it('rejects at connectTimeout if a server accepts the connection but does not answer, as one that is starting', async () => {
      const { opening, server, clock } = scriptedConnect({ attemptTimeout: 1000, connectTimeout: 1500 })
      const failing = failureOf(opening)
      ;(await server.next()).open()
      ;(await redial({ server, clock })).open()
      await clock.advance(1500)
      const { code, message } = (await failing) as ZooKeeperError
      expect(code).to.equal('CONNECTTIMEOUT')
      expect(message).to.contain('(1500 ms; zk:2181: connected, but no session within 1000 ms)')
    })

    it('names the hosts that were not tried within connectTimeout', async () => {
      const { opening, server, clock } = scriptedConnect({ attemptTimeout: 1000, connectTimeout: 100 }, 'a,b')
      const failing = failureOf(opening)
      const { host } = (await server.next()).address
      await clock.advance(100)
      const { message } = (await failing) as ZooKeeperError
      expect(message).to.contain(`${host}:2181: no answer yet`)
      expect(message).to.contain(`${host === 'a' ? 'b' : 'a'}:2181: not tried yet`)
    })

    it('waits for a server until connectTimeout if that is set', async () => {
      const { opening, server, clock } = scriptedConnect({ connectTimeout: 60_000 })
      ;(await server.next()).close(refused())
      for (let attempt = 2; attempt <= 10; attempt++) (await redial({ server, clock })).close(refused())
      const connection = await redial({ server, clock })
      connection.open()
      connection.handshake()
      expect((await opening).state).to.equal('connected')
    })

    it('rejects with PROTOCOL only if all hosts have failed permanently', async () => {
      const failing = async (ends: readonly Error[]) => {
        const { opening, server, clock } = scriptedConnect({}, 'a,b')
        const caught = failureOf(opening)
        const [first, second] = ends
        ;(await server.next()).close(first)
        ;(await redial({ server, clock })).close(second)
        return caught
      }
      const misconfigured = () => new PermanentError('wrong certificate')
      expect(await failing([misconfigured(), misconfigured()])).to.have.property('code', 'PROTOCOL')
      expect(await failing([misconfigured(), refused()])).to.have.property('code', 'NOSERVER')
    })

    it('calls onConnectionError for each failed attempt and each lost connection', async () => {
      const errors: ZooKeeperError[] = []
      const thrown = new Error('thrown by the callback')
      const { opening, server, clock, callbackErrors } = scriptedConnect(
        {
          connectTimeout: 10_000,
          onConnectionError: error => {
            errors.push(error)
            if (errors.length === 3) throw thrown
          },
        },
        'a,b',
      )
      const first = await server.next()
      first.close(refused())
      const second = await redial({ server, clock })
      second.open()
      second.close()
      const third = await redial({ server, clock })
      third.open()
      third.handshake()
      const client = await opening
      expect(client.state).to.equal('connected')
      third.close()
      await clock.advance(0)
      const names = [first, second, third].map(({ address: { host } }) => `${host}:2181`)
      expect(errors.map(({ code, fate }) => [code, fate])).to.deep.equal([
        ['NOSERVER', 'notSent'],
        ['NOSERVER', 'notSent'],
        ['CONNECTIONLOSS', 'unknown'],
      ])
      expect(errors[0]?.message).to.contain(`(${names[0]}: connection refused (connect ECONNREFUSED 10.0.0.1:2181))`)
      expect(errors[1]?.message).to.contain(`(${names[1]}: the server closed the connection before the end of the`)
      expect(errors[2]?.message).to.contain(`(${names[2]}: the server closed the connection)`)
      expect(callbackErrors).to.deep.equal([thrown])
    })

    it('waits longer for a silent host in each attempt, up to a third of the session timeout, and to 5 s at most', async () => {
      for (const [sessionTimeout, expected] of [
        [3000, [1000, 1000, 1000]],
        [60_000, [1000, 2000, 4000, 5000, 5000]],
      ] as const) {
        const all = await scriptedSession({ sessionTimeout }, 'a')
        all.connection.close()
        const times: number[] = []
        while (times.length < expected.length) {
          const silent = await redial(all)
          const dialledAt = all.clock.now()
          while (!silent.dropped) await all.clock.advance(1)
          times.push(all.clock.now() - dialledAt)
        }
        expect(times).to.deep.equal(expected)
      }
    })

    it('keeps a session that exists, although all hosts refuse the connection', async () => {
      const all = await scriptedSession({}, 'a,b')
      all.connection.close()
      for (let attempt = 1; attempt <= 5; attempt++) (await redial(all)).close(refused())
      expect(all.client.state).to.equal('suspended')
    })
  })
})
