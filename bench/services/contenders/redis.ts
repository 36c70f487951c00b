// The contenders of Redis. Three locks that programs write by hand or take from a library.
// Each program of this folder has the commands of bench/peers/drivers/lines.ts.
// May import: bench/peers/drivers/lines.ts, bench/services/clients.
import { randomUUID } from 'node:crypto'
import { serve } from '../../peers/drivers/lines.ts'
import { RedisConnection } from '../clients/redis.ts'
import { pauseOfPoll } from './pause.ts'

/** The holder renews three times in the time that the key lives. */
const RENEWALS = 3

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"
const RENEW =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"
const RELEASE_AND_TELL =
  "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('publish',KEYS[1],'') return redis.call('del',KEYS[1]) else return 0 end"

await serve(async (address, timeToLive) => {
  const [host = '', port] = address.split(':')
  const redis = await RedisConnection.open(host, Number(port))
  const scripts = await Promise.all([RELEASE, RENEW, RELEASE_AND_TELL].map(text => redis.call('SCRIPT', 'LOAD', text)))
  const [release, renew, releaseAndTell] = scripts.map(String)
  const token = randomUUID()
  let subscriber: RedisConnection | undefined

  const attempt = async (key: string): Promise<boolean> =>
    (await redis.call('SET', key, token, 'NX', 'PX', String(timeToLive))) === 'OK'
  const held = (key: string, script = '') => {
    const renewal = setInterval(
      () => void redis.call('EVALSHA', renew ?? '', '1', key, token, String(timeToLive)).catch(() => undefined),
      timeToLive / RENEWALS,
    )
    return async () => {
      clearInterval(renewal)
      await redis.call('EVALSHA', script, '1', key, token)
    }
  }

  const recipes: Record<string, (key: string) => Promise<() => Promise<void>>> = {
    /** Asks again after a pause. */
    poll: async key => {
      while (!(await attempt(key))) await pauseOfPoll()
      return held(key, release)
    },
    /** Is told by the holder, and asks again when the key expires: as Redisson does. */
    channel: async key => {
      if (await attempt(key)) return held(key, releaseAndTell)
      subscriber ??= await RedisConnection.open(host, Number(port))
      let tell: () => void = () => undefined
      subscriber.onMessage = () => tell()
      await subscriber.call('SUBSCRIBE', key)
      for (;;) {
        // The promise is made before the attempt, because the message may come while the attempt is answered.
        const told = new Promise<void>(resolve => (tell = resolve))
        if (await attempt(key)) break
        const left = Number(await redis.call('PTTL', key))
        let timer: NodeJS.Timeout | undefined
        const expired = new Promise<void>(resolve => (timer = setTimeout(resolve, Math.max(left, 0) + 1)))
        await Promise.race([told, expired])
        clearTimeout(timer)
      }
      await subscriber.call('UNSUBSCRIBE', key)
      return held(key, releaseAndTell)
    },
    /** Takes the one element of a list, and puts it back. Nothing puts it back for a holder that dies. */
    list: async key => {
      if ((await redis.call('SET', `${key}:made`, '1', 'NX')) === 'OK') await redis.call('RPUSH', key, '1')
      await redis.call('BLPOP', key, '0')
      return async () => {
        await redis.call('RPUSH', key, '1')
      }
    },
  }
  return {
    acquire: (recipe, path) => recipes[recipe]?.(path) ?? Promise.reject(new Error(`unknown recipe: ${recipe}`)),
    close: () => {
      redis.close()
      subscriber?.close()
      return Promise.resolve()
    },
  }
})
