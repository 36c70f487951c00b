// SRV records that the test supplies, with scripted servers.
import { expect } from 'chai'
import { connect, type ConnectOptions } from '../../../src/client/index.ts'
import { nodeSettingsOf, srvLookupOf } from '../../../src/client/node.ts'
import { HostProvider, type Servers } from '../../../src/session/servers/host-provider.ts'
import { newSrvHosts } from '../../../src/session/servers/srv-hosts.ts'
import type { SrvRecord } from '../../../src/transport/srv.ts'
import type { Address } from '../../../src/transport/transport.ts'
import { VirtualClock, settle } from '../../../src/testing/virtual-clock.ts'
import { ScriptedServer, SESSION_ID, type ScriptedConnection } from '../../support/scripted-server.ts'
import { closeCleanly, reconnect, redial } from '../../support/scripted-session.ts'

const NAME = '_zookeeper._tcp.example.org'
const hosts = (...names: string[]): SrvRecord[] => names.map(name => ({ name, port: 2181 }))

/** Calls connect() with SRV records that the test may change. If `records` is undefined, the lookup fails. */
function opening(records: SrvRecord[] | undefined, options: ConnectOptions = {}, servers = `dns-srv://${NAME}/app`) {
  const clock = new VirtualClock()
  const server = new ScriptedServer()
  const dns = { records, lookups: [] as string[], answer: undefined as (() => Promise<SrvRecord[]>) | undefined }
  const resolveSrv = (name: string): Promise<SrvRecord[]> => {
    dns.lookups.push(name)
    if (dns.answer !== undefined) return dns.answer()
    if (dns.records === undefined) return Promise.reject(new Error(`querySrv ENOTFOUND ${name}`))
    return Promise.resolve(dns.records)
  }
  const random = () => 0.999
  const opening = connect(servers, { sessionTimeout: 3000, dial: server.dial, clock, random, resolveSrv, ...options })
  return { opening, server, clock, dns }
}

async function opened(records: SrvRecord[], options: ConnectOptions = {}) {
  const all = opening(records, options)
  const connection = await all.server.next()
  connection.open()
  connection.handshake()
  return { ...all, client: await all.opening, connection }
}

const advanceWithReplies = async (clock: VirtualClock, ms: number, connection: ScriptedConnection) => {
  for (let passed = 0; passed < ms && !connection.dropped; passed += 500) {
    await clock.advance(500)
    for (const request of connection.received.splice(0)) connection.reply(request)
  }
}

/** Makes a provider whose lookups the test answers. It says what the session is told to dial, or why to leave its host. */
function providerOf(servers: Servers) {
  const answers: ((hosts: readonly Address[]) => void)[] = []
  const told: string[] = []
  const clock = new VirtualClock()
  const settings = {
    ...nodeSettingsOf({ clock, random: () => 0 }),
    newSrvHosts: newSrvHosts(() => new Promise(resolve => answers.push(resolve)), 60_000),
  }
  const provider = new HostProvider(servers, settings, {
    timeToConnect: () => 3000,
    dial: ({ host }) => void told.push(host),
    leaveServer: reason => void told.push(reason),
    onConnectionLost: () => undefined,
  })
  return { provider, answers, told, clock }
}

describe('SRV records', () => {
  it('of a lookup that the next attempt does not wait for are not dialled, because the session has one connection', async () => {
    const { provider, answers, told } = providerOf({ hosts: [], srv: NAME })
    for (let i = 0; i < 2; i++) provider.dialNext()
    for (const [i, answer] of answers.entries()) answer([{ host: `zk${i}`, port: 2181 }])
    await settle()
    expect(told).to.deep.equal(['zk1'])
    provider.end()
  })

  it('of a lookup that began before another one has ended are ignored, because they are older', async () => {
    const { provider, answers, told } = providerOf({ hosts: [{ host: 'old', port: 2181 }] })
    // While connected, the records are looked up. Then the connection is lost, and they are looked up again.
    provider.setServers({ hosts: [], srv: NAME })
    provider.dialNext()
    answers[1]?.([{ host: 'new', port: 2181 }])
    await settle()
    answers[0]?.([{ host: 'old', port: 2181 }])
    await settle()
    expect(told).to.deep.equal(['new'])
    provider.end()
  })

  it('of a name that the list does not have any more are ignored', async () => {
    const { provider, answers, told } = providerOf({ hosts: [], srv: NAME })
    provider.setServers({ hosts: [], srv: NAME })
    provider.setServers({ hosts: [{ host: 'new', port: 2181 }] })
    answers[0]?.([{ host: 'old', port: 2181 }])
    await settle()
    provider.dialNext()
    expect(told.at(-1)).to.equal('new')
    provider.end()
  })

  it('or other hosts are not said to have failed since a server has accepted the session', () => {
    const { provider, told } = providerOf({ hosts: [{ host: 'zk', port: 2181 }] })
    provider.dialNext()
    provider.onConnectionLost({ detail: 'no answer', outlook: 'temporary', unanswered: 'handshake' })
    expect([provider.areSilent, provider.describeFailures()]).to.deep.equal([true, 'zk:2181: no answer'])
    provider.onConnected(false)
    expect([provider.areSilent, provider.describeFailures()]).to.deep.equal([false, 'zk:2181: no answer yet'])
    expect(told).to.deep.equal(['zk'])
    provider.end()
  })

  it('of a lookup that ends after the session are ignored, and leave no timer', async () => {
    const { provider, answers, told, clock } = providerOf({ hosts: [], srv: NAME })
    provider.dialNext()
    provider.setServers({ hosts: [], srv: NAME })
    provider.end()
    for (const answer of answers) answer([{ host: 'late', port: 2181 }])
    await settle()
    expect(told).to.deep.equal([])
    expect([answers.length, clock.pendingTimers]).to.deep.equal([2, 0])
  })

  it('provide hosts and ports, regardless of priority and weight; the rest of the string is the chroot', async () => {
    const {
      opening: client,
      server,
      dns,
      clock,
    } = opening([
      { name: 'zk1.example.org', port: 2182 },
      { name: 'zk2.example.org.', port: 2183 },
    ])
    const first = await server.next()
    first.close()
    const second = await redial({ server, clock })
    expect([first, second].map(({ address }) => address)).to.deep.equal([
      { host: 'zk1.example.org', port: 2182 },
      { host: 'zk2.example.org', port: 2183 },
    ])
    second.open()
    second.handshake()
    const zk = await client
    void zk.getData('/a').catch(() => undefined)
    expect((await second.next()).body).to.deep.equal({ path: '/app/a', watch: false })
    expect(new Set(dns.lookups)).to.deep.equal(new Set([NAME]))
  })

  it('are looked up before each attempt; if the lookup yields no host, the previous ones are used', async () => {
    const all = await opened(hosts('old'))
    all.dns.records = hosts('new')
    all.connection.close()
    const second = await redial(all)
    expect(second.address.host).to.equal('new')
    second.open()
    expect(second.connectRequest?.sessionId).to.equal(SESSION_ID)
    for (const records of [undefined, [], [{ name: '.', port: 2181 }], [{ name: 'zk', port: 0 }]]) {
      all.dns.records = records
      all.server.connections.at(-1)?.close()
      expect((await redial(all)).address.host).to.equal('new')
    }
  })

  it('are looked up until they exist; connect() rejects with the failed lookup as the cause', async () => {
    const failed = opening(undefined, { connectTimeout: 1000 })
    const caught = failed.opening.catch((error: unknown) => error)
    await failed.clock.advance(1000)
    const error = (await caught) as Error & { cause: Error }
    expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    expect(error.cause.message).to.contain(NAME)
    expect(String(error.cause.cause)).to.contain('ENOTFOUND')
    expect(failed.dns.lookups.length).to.be.within(3, 10)
    expect(failed.clock.pendingTimers).to.equal(0)

    const late = opening(undefined)
    await late.clock.advance(200)
    late.dns.records = hosts('zk')
    expect((await redial(late)).address.host).to.equal('zk')
  })

  it('delay an attempt no longer than attemptTimeout if the lookup does not answer', async () => {
    const lookups: string[] = []
    const resolveSrv = (name: string) => {
      lookups.push(name)
      return new Promise<never>(() => undefined)
    }
    const all = opening([], { resolveSrv, attemptTimeout: 400, connectTimeout: 1000 })
    const caught = all.opening.catch((error: unknown) => error)
    await all.clock.advance(1000)
    expect(await caught).to.include({ code: 'CONNECTTIMEOUT' })
    expect(lookups.length).to.be.within(2, 3)
  })

  it('are waited for longer in each attempt, and as long as attemptTimeout while connected, for slow name servers', async () => {
    let records = hosts('zk1')
    const resolveSrv = () =>
      new Promise<SrvRecord[]>(resolve => void all.clock.setTimeout(() => resolve(records), 3000))
    const all = opening([], { resolveSrv, sessionTimeout: 30_000, srvRefreshInterval: 10_000 })
    // Lookups of 1, 2 and 4 s.
    await all.clock.advance(7000)
    expect(all.server.connections).to.have.length(1)
    const connection = await all.server.next()
    connection.open()
    connection.handshake()
    await all.opening
    records = hosts('zk2')
    await advanceWithReplies(all.clock, 13_500, connection)
    expect(connection.dropped).to.equal(true)
  })

  it('are looked up regularly while connected; the client moves if its server is no longer listed', async () => {
    const all = await opened(hosts('zk1', 'zk2'), { srvRefreshInterval: 10_000 })
    const { host } = all.connection.address
    all.dns.records = hosts('zk3', host)
    await advanceWithReplies(all.clock, 10_000, all.connection)
    expect(all.dns.lookups).to.have.length(2)
    expect(all.connection.dropped).to.equal(false)
    all.dns.records = hosts('zk3')
    await advanceWithReplies(all.clock, 10_500, all.connection)
    expect(all.connection.dropped).to.equal(true)
    const second = await reconnect(all)
    expect(second.address.host).to.equal('zk3')
    expect(second.connectRequest?.sessionId).to.equal(SESSION_ID)
  })

  it('are not looked up after close(), which leaves no timer', async () => {
    const all = await opened(hosts('zk1'))
    await closeCleanly(all)
    expect(all.clock.pendingTimers).to.equal(0)
  })

  it('of a lookup that ends after the list was replaced are ignored', async () => {
    const all = await opened(hosts('zk1'))
    let answer: (records: SrvRecord[]) => void = () => undefined
    all.dns.answer = () => new Promise(resolve => (answer = resolve))
    all.connection.close()
    while (all.dns.lookups.length < 2) await all.clock.advance(1)
    all.client.updateServerList('listed')
    answer(hosts('late'))
    for (let attempt = 1; attempt <= 3; attempt++) {
      const next = await redial(all)
      expect(next.address.host).to.equal('listed')
      next.close()
    }
  })

  it('can be replaced by a list, and a list by SRV records', async () => {
    const all = await opened(hosts('zk1'))
    all.client.updateServerList('listed')
    const second = await reconnect(all)
    expect(second.address.host).to.equal('listed')
    const { length } = all.dns.lookups
    await advanceWithReplies(all.clock, 120_000, second)
    expect(all.dns.lookups).to.have.length(length)
    all.client.updateServerList(`dns-srv://${NAME}/app`)
    await settle()
    await settle()
    expect(second.dropped).to.equal(true)
    expect((await redial(all)).address.host).to.equal('zk1')
    expect(() => all.client.updateServerList(`dns-srv://${NAME}/other`)).to.throw('BADARGUMENTS')
  })

  for (const servers of ['dns-srv://', 'dns-srv:///app', 'dns-srv://a,b', 'dns-srv://a:2181', 'dns-srv://a b'])
    it(`are rejected with BADARGUMENTS for ${JSON.stringify(servers)}`, async () => {
      const error: unknown = await connect(servers).catch((e: unknown) => e)
      expect(error).to.include({ code: 'BADARGUMENTS' })
    })
})

describe('SRV records of servers with TLS', () => {
  const lookedUp = (options: ConnectOptions, ...names: string[]) =>
    srvLookupOf({ resolveSrv: () => Promise.resolve(hosts(...names)), ...options })(NAME, {
      clock: new VirtualClock(),
      attemptTimeout: 1000,
    }).then(
      all => all.map(({ host }) => host).join(),
      (error: unknown) => (error as Error).message,
    )

  it('must name hosts below the domain of the connect string, because DNS is not authenticated', async () => {
    expect(await lookedUp({ tls: true }, 'zk1.example.org', 'EXAMPLE.org.')).to.equal('zk1.example.org,EXAMPLE.org')
    for (const name of ['evil.org', 'notexample.org', 'example.org.evil.net', '10.0.0.1', 'org'])
      expect(await lookedUp({ tls: {} }, 'zk1.example.org', name)).to.equal(
        `a record names ${name}, which is not below example.org; if that is right, set srvDomain`,
      )
  })

  it('may name any host if the caller says which, or what the certificate must be for', async () => {
    const name = 'zk.hosting.net'
    expect(await lookedUp({ tls: true, srvDomain: 'hosting.net' }, name)).to.equal(name)
    expect(await lookedUp({ tls: true, srvDomain: 'other.net' }, name)).to.contain('is not below other.net')
    for (const tls of [{ servername: 'zk' }, { checkServerIdentity: () => undefined }, { rejectUnauthorized: false }])
      expect(await lookedUp({ tls }, name)).to.equal(name)
    expect(await lookedUp({}, name)).to.equal(name)
  })

  it('are refused by connect() before any server gets a byte', async () => {
    const resolveSrv = () => Promise.resolve(hosts('localhost'))
    const error = await connect(`dns-srv://${NAME}`, { tls: true, resolveSrv }).catch((error: unknown) => error)
    expect(error).to.include({ code: 'PROTOCOL' })
    expect((error as Error).message).to.contain('a record names localhost, which is not below example.org')
  })

  it('refuse a domain that is none', () => {
    for (const srvDomain of ['', '.org', 'a b', 7])
      expect(() => nodeSettingsOf({ srvDomain } as never)).to.throw('srvDomain must be a domain, such as example.org')
  })
})
