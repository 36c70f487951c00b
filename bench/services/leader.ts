// The time to the next holder after the leader of three servers was killed, while a holder releases.
import { setTimeout as delay } from 'node:timers/promises'
import { Ensemble } from '../../environment/ensemble.ts'
import { Driver } from '../peers/driver.ts'
import { EtcdConnection } from './clients/etcd.ts'
import type { ServiceLock, ServiceName } from './locks.ts'
import { etcdMembers } from './servers.ts'
import { commandOf } from './world.ts'

export interface LeaderLoss {
  lock: string
  /** From the death of the leader until the next contender has the lock, ms. One time for each run. */
  times: number[]
  elections: string
}

const RUNS = 3

/** Three servers that serve. */
interface Cluster {
  /** The servers to which the holder and the waiter connect. */
  addresses: readonly [holder: string, waiter: string]
  killLeader: () => Promise<void>
  close: () => Promise<void>
}

const clusters: Partial<Record<ServiceName, { elections: string; start: () => Promise<Cluster> }>> = {
  ZooKeeper: {
    elections: 'the followers see the connection close, and elect at once',
    start: async (): Promise<Cluster> => {
      const ensemble = await Ensemble.start()
      const leader = await ensemble.leader()
      const { connectString } = ensemble
      return {
        addresses: [connectString, connectString],
        killLeader: () => leader.kill(),
        close: () => ensemble.close(),
      }
    },
  },
  etcd: {
    elections: 'an election begins when no heartbeat has come for 1 to 2 s (`--election-timeout` 1 s, the default)',
    start: startEtcdCluster,
  },
}

/**
 * Resolves with undefined if the service has no leader.
 * @param timeout the session timeout, or the time to live of a lease, ms
 */
export async function measureLeaderLoss(lock: ServiceLock, timeout: number): Promise<LeaderLoss | undefined> {
  const cluster = clusters[lock.service]
  if (cluster === undefined) return undefined
  const { start, elections } = cluster
  const command = await commandOf(lock)
  const times: number[] = []
  while (times.length < RUNS) {
    const cluster = await start()
    const driver = new Driver(command)
    try {
      for (const [who, address] of cluster.addresses.entries()) {
        driver.send(`open ${who} ${address} ${timeout}`)
        await driver.until('opened session', () => driver.has('opened', who))
        driver.send(`join ${who} ${lock.recipe} /zkwire-leader-${lock.id} 0`)
        await driver.until('join', () => driver.has(who === 0 ? 'held' : 'joining', who))
      }
      // The waiter shows no sign of waiting. If it were late, it would wait for the new leader like the holder.
      await delay(500)
      driver.forget()
      const begun = performance.now()
      await cluster.killLeader()
      driver.send('leave 0')
      await driver.until('next holder', () => driver.has('held', 1))
      times.push((driver.events.find(({ is }) => is === 'held')?.at ?? NaN) - begun)
    } finally {
      await driver.kill()
      await cluster.close()
    }
  }
  return { lock: lock.id, times, elections }
}

async function startEtcdCluster(): Promise<Cluster> {
  const members = await Promise.all((await etcdMembers(3)).map(member => member.start()))
  const close = async () => {
    await Promise.all(members.map(member => member.close()))
  }
  try {
    const leader = members[await leaderOf(members)]
    const [first, second] = members.filter(member => member !== leader)
    if (leader === undefined || first === undefined || second === undefined) throw new Error('etcd has no leader')
    return {
      addresses: [`${first.host}:${first.port}`, `${second.host}:${second.port}`],
      killLeader: () => leader.close(),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const ELECTION_DEADLINE = 30_000

/** Returns the index of the server that leads. */
async function leaderOf(members: readonly { host: string; port: number }[]): Promise<number> {
  for (const ends = performance.now() + ELECTION_DEADLINE; performance.now() < ends;) {
    const statuses = await Promise.all(
      members.map(async ({ host, port }) => {
        const connection = await EtcdConnection.open(host, port)
        const status = await connection.call('etcdserverpb.Maintenance/Status', {}).catch(() => undefined)
        connection.close()
        return status
      }),
    )
    const leader = statuses[0]?.number(4) ?? 0n
    const index = statuses.findIndex(status => status?.message(1).number(2) === leader)
    if (leader !== 0n && index >= 0) return index
    await delay(50)
  }
  throw new Error('the three servers of etcd have elected no leader')
}
