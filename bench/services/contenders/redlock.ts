// The contenders of Redis whose lock is that of npm redlock. Argument: the folder of the packages.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { serve } from '../../peers/drivers/lines.ts'

interface Redis {
  once(event: 'ready', listener: () => void): void
  disconnect(): void
}

interface Redlock {
  /** Acquires, extends the lock before it expires, and releases it when `routine` has ended. */
  using(keys: string[], duration: number, routine: () => Promise<void>): Promise<void>
}

const load = createRequire(join(process.argv[2] ?? '', 'package.json'))
const { Redis } = load('ioredis') as { Redis: new (port: number, host: string) => Redis }
const { default: Redlock } = load('redlock') as {
  default: new (clients: Redis[], settings: { retryCount: number }) => Redlock
}

/** It gives up after ten attempts by default. */
const FOREVER = -1

await serve(async (address, timeToLive) => {
  const [host = '', port] = address.split(':')
  const redis = new Redis(Number(port), host)
  await new Promise<void>(resolve => redis.once('ready', resolve))
  const redlock = new Redlock([redis], { retryCount: FOREVER })
  return {
    acquire: (_, key) =>
      new Promise((resolve, reject) => {
        let release: () => void
        const released = new Promise<void>(end => (release = end))
        const ended = redlock.using([key], timeToLive, () => {
          resolve(() => {
            release()
            return ended
          })
          return released
        })
        ended.catch(reject)
      }),
    close: () => {
      redis.disconnect()
      return Promise.resolve()
    },
  }
})
