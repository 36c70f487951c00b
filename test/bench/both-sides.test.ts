// What the benchmark counts at the clients, beside what a server says that it has taken in and sent out.
import { expect } from 'chai'
import { HerdMutex } from '../../src/recipes/index.ts'
import { quiet } from '../../bench/quiet.ts'
import { BenchSession } from '../../bench/sessions.ts'
import { Meter, type Traffic } from '../../bench/tap.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'

const SESSIONS = 8
const FENCE = '/fence'

describe('the frames that the benchmark counts', () => {
  it('are those that Apache ZooKeeper counts, both ways, in a herd and in a handshake', async () => {
    await using server = await startApacheZooKeeper()
    const idle = await packetsOf(server)
    // Asking is counted too.
    const asking = minus(await packetsOf(server), idle)
    const meter = new Meter(FENCE, { framePassed: () => undefined, alive: () => undefined })
    const before = await packetsOf(server)

    const sessions: BenchSession[] = []
    for (let i = 0; i < SESSIONS; i++) sessions.push(await new BenchSession(server.connectString, meter).open())
    const fenced = {
      traffic: () => Promise.resolve(structuredClone(meter.traffic)),
      fence: async () => {
        await Promise.all(sessions.map(({ client }) => client.sync(FENCE)))
      },
    }
    const locks = sessions.map(({ client }) => new HerdMutex(client, '/herd'))
    const held = await locks[0]?.acquire()
    const rest = locks.slice(1).map(lock => lock.use(() => undefined))
    await quiet(fenced)
    await held?.release()
    await Promise.all(rest)
    const traffic = await quiet(fenced)

    expect(traffic.work.notifications).to.be.above(SESSIONS)
    expect(traffic.handshakes.framesSent).to.equal(SESSIONS)
    // The server counts a frame after it has written it: the client may have it before.
    const frames = framesOf(traffic)
    let packets = before
    for (let asked = 1; asked === 1 || (asked < 100 && packets.sent < frames.sent); asked++) {
      packets = minus(await packetsOf(server), before)
      for (let i = 0; i < asked; i++) packets = minus(packets, asking)
    }
    expect(packets).to.deep.equal(frames)
    await Promise.all(sessions.map(session => session.close()))
  })
})

interface Packets {
  received: number
  sent: number
}

const minus = (later: Packets, earlier: Packets): Packets => ({
  received: later.received - earlier.received,
  sent: later.sent - earlier.sent,
})

async function packetsOf(server: ApacheZooKeeper): Promise<Packets> {
  const mntr = await server.mntr()
  return { received: Number(mntr.get('zk_packets_received')), sent: Number(mntr.get('zk_packets_sent')) }
}

/** As the server sees them: fences and pings are frames like others to it. */
const framesOf = (traffic: Traffic): Packets =>
  Object.values(traffic as unknown as Record<string, Traffic['work']>).reduce<Packets>(
    (sum, { framesSent, framesReceived }) => ({
      received: sum.received + framesSent,
      sent: sum.sent + framesReceived,
    }),
    { received: 0, sent: 0 },
  )
