// The option followEnsemble, on scripted servers.
import { expect } from 'chai'
import { errnos, eventTypes } from '../../src/protocol/index.ts'
import { supervise, type ConnectOptions } from '../../src/client/index.ts'
import { followEnsemble } from '../../src/client/reconfig-following.ts'
import type { HostProvider } from '../../src/session/servers/host-provider.ts'
import { settle, VirtualClock } from '../../src/testing/virtual-clock.ts'
import { onAbort } from '../../src/runtime/abort.ts'
import { failureOf } from '../support/settled.ts'
import { ScriptedServer, SESSION_ID, type ScriptedConnection } from '../support/scripted-server.ts'
import {
  closeCleanly,
  dataReply,
  reconnect,
  redial,
  scriptedSession,
  type ScriptedSession,
} from '../support/scripted-session.ts'

const CONFIG = '/zookeeper/config'
const line = (id: number, client: string) => `server.${id}=10.0.0.${id}:2888:3888:participant${client}`
/** Returns a configuration with these client addresses. */
const config = (...clients: string[]) =>
  [...clients.map((client, i) => line(i + 1, client && `;${client}`)), 'version=100000000'].join('\n')

const follow = (servers: string, options: ConnectOptions = {}) =>
  scriptedSession({ followEnsemble: true, ...options }, servers)

/** Answers the client's first request, which reads the configuration. */
async function answerConfig(connection: ScriptedConnection, data: string): Promise<void> {
  const request = await connection.next()
  expect(request.body).to.deep.equal({ path: CONFIG, watch: true })
  connection.reply(request, dataReply(data))
  await settle()
}

async function change(connection: ScriptedConnection, data: string): Promise<void> {
  connection.event(eventTypes.NodeDataChanged, CONFIG)
  await settle()
  await answerConfig(connection, data)
}

const hostsAfter = async (all: ScriptedSession, connection: ScriptedConnection, count: number): Promise<string[]> => {
  const tried: string[] = []
  connection.close()
  while (tried.length < count) {
    const next = await redial(all)
    tried.push(next.address.host)
    next.close()
  }
  return tried
}

describe('followEnsemble', () => {
  it('tries the servers of the configuration before the hosts of SRV records, also after these were looked up again', async () => {
    const resolveSrv = () => Promise.resolve([{ name: 'seed', port: 2181 }])
    const all = await follow('dns-srv://example.org', { resolveSrv })
    await answerConfig(all.connection, config('10.0.0.1:2181', '10.0.0.2:2181'))
    const tried = await hostsAfter(all, all.connection, 3)
    expect(new Set(tried.slice(0, 2))).to.deep.equal(new Set(['10.0.0.1', '10.0.0.2']))
    expect(tried[2]).to.equal('seed')
  })

  it('takes linear time, also for 40,000 servers that all change', async () => {
    const cost = async (count: number) => {
      const all = await follow('a0:2181')
      const hosts = (prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}:2181`)
      const [before, after] = [config(...hosts('a')), config(...hosts('b'), ...hosts('a').slice(count / 2))]
      const started = process.cpuUsage()
      await answerConfig(all.connection, before)
      await change(all.connection, after)
      expect(all.connection.dropped).to.equal(true)
      expect((await redial(all)).address.host).to.match(/^[ab]\d+$/)
      const { user, system } = process.cpuUsage(started)
      return user + system
    }
    const small = await cost(4_000)
    expect((await cost(40_000)) / small, 'ten times the servers; the square would be a hundred').to.be.below(12)
  })

  it('is off by default', async () => {
    const { connection } = await scriptedSession()
    await settle()
    expect(connection.requests).to.deep.equal([])
  })

  it('tries the servers of the configuration, then those of the connect string if none can be reached', async () => {
    const all = await follow('seed')
    await answerConfig(all.connection, config('one:2181', 'two:2181'))
    expect(all.connection.dropped, 'its server may be one of them under another name').to.equal(false)
    const tried = await hostsAfter(all, all.connection, 6)
    expect(tried.slice(0, 2)).to.have.members(['one', 'two'])
    expect(tried[2]).to.equal('seed')
    expect(tried.slice(3)).to.deep.equal(tried.slice(0, 3))
  })

  it('keeps its own watch on the node if the caller removes watches from it', async () => {
    const all = await follow('one')
    await answerConfig(all.connection, config('one:2181', 'two:2181'))
    expect(await failureOf(all.client.removeWatches(CONFIG))).to.include({ code: 'NOWATCHER' })
    await change(all.connection, config('two:2181'))
    expect(all.connection.dropped).to.equal(true)
  })

  it('moves the session if its server leaves the configuration', async () => {
    const all = await follow('one')
    await answerConfig(all.connection, config('one:2181', 'two:2181'))
    await change(all.connection, config('two:2181'))
    expect(all.connection.dropped).to.equal(true)
    const second = await reconnect(all)
    expect(second.address.host).to.equal('two')
    expect(second.connectRequest?.sessionId).to.equal(SESSION_ID)
    await closeCleanly({ client: all.client, connection: second })
  })

  it('keeps the connection if other servers leave, and follows later changes too, also on another connection', async () => {
    const all = await follow('one')
    await answerConfig(all.connection, config('one:2181', 'two:2181', 'three:2181'))
    await change(all.connection, config('one:2181', 'two:2181'))
    expect(all.connection.dropped).to.equal(false)
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received.map(({ op }) => op.name)).to.deep.equal(['setWatches'])
    await second.next()
    const here = second.address.host
    await change(second, config(here === 'one' ? 'two:2181' : 'one:2181'))
    expect(second.dropped).to.equal(true)
  })

  it('reads the configuration again if the reply was lost', async () => {
    const all = await follow('one')
    await all.connection.next()
    all.connection.close()
    const second = await reconnect(all)
    await answerConfig(second, config('two:2181'))
    expect(await hostsAfter(all, second, 2)).to.deep.equal(['two', 'one'])
  })

  it('skips servers without a client port, and then does not treat the current one as removed', async () => {
    const all = await follow('one')
    await answerConfig(all.connection, config('one:2181', 'two:2181'))
    await change(all.connection, config('', 'two:2181', 'three:2181'))
    expect(all.connection.dropped).to.equal(false)
    const tried = await hostsAfter(all, all.connection, 3)
    expect(tried.slice(0, 2)).to.have.members(['two', 'three'])
    expect(tried[2]).to.equal('one')
  })

  it('gives the servers of the configuration to the next session of supervise(), which leaves a server that has left them', async () => {
    const all = { server: new ScriptedServer(), clock: new VirtualClock() }
    const stop = new AbortController()
    const { signal } = stop
    const options = { dial: all.server.dial, clock: all.clock, random: () => 0.5, followEnsemble: true, signal }
    const done = supervise('seed', options, (_zk, over) => new Promise<void>(resolve => onAbort(over, resolve)))
    const first = await all.server.next()
    first.open()
    first.handshake()
    await answerConfig(first, config('one:2181', 'two:2181'))
    first.close()
    const again = await reconnect(all, { timeOut: 0 })
    expect(again.connectRequest?.sessionId).to.equal(SESSION_ID)
    const tried = [again.address.host]
    while (tried.length < 4) {
      const next = await redial(all)
      tried.push(next.address.host)
      next.close()
    }
    expect(tried.slice(1, 3)).to.have.members(['one', 'two'])
    expect(tried[3]).to.equal('seed')
    const next = await redial(all)
    next.open()
    next.handshake()
    await answerConfig(next, config(next.address.host === 'one' ? 'two:2181' : 'one:2181'))
    expect(next.dropped).to.equal(true)
    stop.abort()
    expect(await all.clock.until(failureOf(done))).to.equal(signal.reason)
  })

  it('ignores a configuration without servers', async () => {
    for (const data of [config('', ''), '', 'version=0', 'server.x=nonsense']) {
      const all = await follow('one,two')
      await answerConfig(all.connection, data)
      expect(new Set(await hostsAfter(all, all.connection, 4))).to.deep.equal(new Set(['one', 'two']))
    }
  })

  it('reports that it cannot read the configuration, and the client continues', async () => {
    const all = await follow('one')
    all.connection.reply(await all.connection.next(), { err: errnos.NOAUTH })
    await settle()
    expect(all.callbackErrors).to.have.length(1)
    expect(all.callbackErrors[0]).to.include({ code: 'NOAUTH', path: CONFIG })
    expect(all.client.state).to.equal('connected')
  })

  it('reports nothing if the session ends while the configuration is being read', async () => {
    const all = await follow('one')
    all.connection.close()
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    await settle()
    expect(all.client.state).to.equal('expired')
    expect(all.callbackErrors).to.deep.equal([])
  })

  it('ends with the session and reports nothing', async () => {
    const all = await follow('one')
    await answerConfig(all.connection, config('one:2181'))
    await closeCleanly(all)
    await settle()
    expect(all.callbackErrors).to.deep.equal([])
    expect(all.clock.pendingTimers).to.equal(0)
  })

  it('takes the port without TLS, also where the configuration names both, and every address of the server', async () => {
    const all = await follow('seed')
    await answerConfig(all.connection, config('[0:0:0:0:0:0:0:0]:2181;[0:0:0:0:0:0:0:0]:2281'))
    const [first] = await hostsAfter(all, all.connection, 1)
    expect(first).to.equal('10.0.0.1')
  })

  it('reports a configuration that names only ports for the other kind of client, and stays at the connect string', async () => {
    const all = await follow('seed')
    await answerConfig(all.connection, config(';2281', ';2281'))
    expect(all.callbackErrors).to.have.length(1)
    expect(all.callbackErrors[0]).to.include({ code: 'BADARGUMENTS' })
    expect(await hostsAfter(all, all.connection, 2)).to.deep.equal(['seed', 'seed'])
  })

  it('with tls takes the port for TLS', async () => {
    for (const usesTls of [true, false]) {
      const { client, connection } = await scriptedSession({}, 'seed')
      const configured: unknown[] = []
      const hosts = { setConfigured: (...args: unknown[]) => configured.push(args) } as unknown as HostProvider
      const following = followEnsemble(client, hosts, usesTls)
      await answerConfig(connection, config('2181;2281', '2182;2282'))
      const ports = usesTls ? [2281, 2282] : [2181, 2182]
      expect(configured).to.deep.equal([[ports.map((port, i) => ({ host: `10.0.0.${i + 1}`, port })), true]])
      await closeCleanly({ client, connection })
      await following
    }
  })
})
