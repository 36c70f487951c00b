// `zkwire herds` as a process, on both servers, while clients wait for locks.
import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client } from '../../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex } from '../../../src/recipes/index.ts'
import { startApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { freePort } from '../../../environment/free-port.ts'
import { tcpdump } from '../../../environment/needs.ts'
import { until } from '../../../environment/until.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { jsonOf, onBothServers, zkwire } from './program.ts'
import { captureOf } from './tcpdump.ts'

const CLIENTS = 12

interface Found {
  herds: { path?: string; watchers: number; samples: number; isEphemeral: boolean }[]
  samples: number
}

onBothServers('zkwire herds', server => {
  const herdsOf = async (make: (zk: Client, path: string) => { acquire: () => Promise<unknown> }, path: string) => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(server.connectString)))
    const [holder, ...waiters] = clients as [Client, ...Client[]]
    await make(holder, path).acquire()
    for (const zk of waiters)
      void make(zk, path)
        .acquire()
        .catch(() => undefined)
    const found = (await jsonOf([
      'herds',
      '-s',
      server.connectString,
      '--for',
      '2',
      '--every',
      '0.5',
      '--least',
      '10',
    ])) as Found
    await Promise.all(clients.map(zk => zk.close()))
    return found
  }

  it('names the node of a lock that all waiters watch, and says that it is ephemeral', async () => {
    const { herds, samples } = await herdsOf((zk, path) => new EphemeralMutex(zk, path), '/herds-one-node')
    expect(samples).to.be.within(2, 5)
    const herd = herds.find(({ path }) => path === '/herds-one-node')
    expect(herd).to.include({ watchers: CLIENTS - 1, isEphemeral: true })
  })

  it('counts the watches of a queue whose waiters all watch the directory, which servers do not name', async () => {
    const { herds } = await herdsOf((zk, path) => new HerdMutex(zk, path), '/herds-directory')
    expect(herds.find(({ path }) => path === undefined)?.watchers).to.be.at.least(CLIENTS - 1)
  })

  it('finds none in a queue whose waiters watch their predecessors', async () => {
    const { herds } = await herdsOf((zk, path) => new Mutex(zk, path), '/herds-queue')
    expect(herds.filter(({ path }) => path?.startsWith('/herds-queue'))).to.deep.equal([])
  })
})

describe('zkwire herds of a capture', function () {
  this.timeout(60_000)
  before(function () {
    this.timeout(300_000)
    return ensureInstalled(tcpdump)
  })

  it('names the directory that all waiters watch, and none for a queue whose waiters watch their predecessors', async () => {
    const { connectString } = await sharedServer()
    const [, port = ''] = connectString.split(':')
    const capture = await captureOf(port, async () => {
      for (const [Lock, path] of [
        [HerdMutex, '/captured-herd'],
        [Mutex, '/captured-queue'],
      ] as const) {
        const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(connectString)))
        const [first, ...others] = clients.map(zk => new Lock(zk, path))
        const held = await first?.acquire()
        const waiting = others.map(lock => lock.use(() => undefined))
        await until(async () => (await first?.contenders())?.length === CLIENTS)
        // The request that sets a waiter's watch follows that of its node.
        await Promise.all(clients.map(zk => zk.sync('/')))
        await held?.release()
        await Promise.all(waiting)
        await Promise.all(clients.map(zk => zk.close()))
      }
    })
    const directory = mkdtempSync(join(tmpdir(), 'zkwire-herds-'))
    const file = join(directory, 'zk.pcap')
    writeFileSync(file, capture)
    const { herds } = (await jsonOf(['herds', file, '--least', '5'])) as { herds: Record<string, unknown>[] }
    expect(herds).to.have.length(1)
    expect(herds[0]).to.include({ path: '/captured-herd', type: 'NodeChildrenChanged' })
    // A waiter of a busy machine may list after the release, and then needs no notification.
    expect(herds[0]?.['notified']).to.be.within(5, CLIENTS)
    const { status, out, err } = await zkwire(['herds', file, '--least', '100'])
    expect([status, out]).to.deep.equal([0, 'No change notified 100 clients or more.\n'])
    expect(err).to.match(new RegExp(`^packets: \\d+; connections: ${2 * CLIENTS}(; bytes sent again: \\d+)?\\n$`))
    rmSync(directory, { recursive: true })
  })

  it('ends with 64 if the file is none, or not there', async () => {
    const { status, err } = await zkwire(['herds', 'package.json'])
    expect([status, err]).to.deep.equal([64, err.match(/^zkwire herds: [^\n]+\n$/)?.[0]])
    const missing = await zkwire(['herds', '/missing.pcap'])
    expect(missing).to.deep.include({
      status: 64,
      err: 'zkwire herds: cannot read the file /missing.pcap (ENOENT) (see zkwire help herds)\n',
    })
  })
})

describe('zkwire herds', () => {
  it('names the words that a server does not allow, and ends with 1', async () => {
    const server = await startApacheZooKeeper({ config: { '4lw.commands.whitelist': 'srvr,mntr' } })
    const { status, out, err } = await zkwire(['herds', '-s', server.connectString, '--for', '0.1'])
    expect(err).to.contain(`${server.connectString} does not allow the word wchp: add it to 4lw.commands.whitelist`)
    expect([status, out]).to.deep.equal([1, 'No node had 10 watches or more.\n'])
    await server.close()
  })

  it('ends with 69 if no server answers', async () => {
    const { status, out, err } = await zkwire(['herds', '-s', `127.0.0.1:${await freePort()}`])
    expect(err).to.match(/^zkwire herds: \S+ does not answer dump: .*ECONNREFUSED/)
    expect([status, out]).to.deep.equal([69, ''])
  })
})
