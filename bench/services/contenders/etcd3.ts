// The contenders of etcd whose locks are those of npm etcd3. Argument: the folder of the packages.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { serve } from '../../peers/drivers/lines.ts'
import { pauseOfPoll } from './pause.ts'

interface Lock {
  ttl(seconds: number): Lock
  acquire(): Promise<unknown>
  release(): Promise<void>
}

interface Campaign {
  wait(): Promise<unknown>
  resign(): Promise<void>
}

interface Etcd3 {
  lock(key: string): Lock
  election(name: string, ttl: number): { campaign(value: string): Campaign }
  maintenance: { status(): Promise<unknown> }
  close(): void
}

interface Package {
  Etcd3: new (options: { hosts: string; grpcOptions: Record<string, number> }) => Etcd3
  EtcdLockFailedError: new () => Error
}

const load = createRequire(join(process.argv[2] ?? '', 'package.json'))
const { Etcd3, EtcdLockFailedError } = load('etcd3') as Package

await serve(async (address, timeToLive) => {
  // Each contender has a connection of its own, also if it has the same address as others.
  const etcd = new Etcd3({ hosts: `http://${address}`, grpcOptions: { 'grpc.use_local_subchannel_pool': 1 } })
  // It connects with its first request.
  await etcd.maintenance.status()
  const seconds = Math.ceil(timeToLive / 1000)
  const recipes: Record<string, (path: string) => Promise<() => Promise<void>>> = {
    /** The package rejects at once if another one has the lock. */
    poll: async path => {
      for (;;) {
        const lock = etcd.lock(path).ttl(seconds)
        try {
          await lock.acquire()
          return () => lock.release()
        } catch (error) {
          if (!(error instanceof EtcdLockFailedError)) throw error
        }
        await pauseOfPoll()
      }
    },
    /** The only queue of the package. */
    election: async path => {
      const campaign = etcd.election(path, seconds).campaign('')
      await campaign.wait()
      return () => campaign.resign()
    },
  }
  return {
    acquire: (recipe, path) => recipes[recipe]?.(path) ?? Promise.reject(new Error(`unknown recipe: ${recipe}`)),
    close: () => {
      etcd.close()
      return Promise.resolve()
    },
  }
})
