// The contenders of PostgreSQL. Each is a connection, and its locks end with it.
import { serve } from '../../peers/drivers/lines.ts'
import { PostgresConnection } from '../clients/postgresql.ts'

/** A waiter asks again after this time, ms, because nothing notifies it of a holder that has died. */
const FALLBACK = 1000

await serve(async address => {
  const [host = '', port] = address.split(':')
  const db = await PostgresConnection.open(host, Number(port))
  let listensTo = ''
  let tell: () => void = () => undefined
  db.onNotification = () => tell()
  const idOf = (path: string) => `hashtext('${path}')`

  const recipes: Record<string, (path: string) => Promise<() => Promise<void>>> = {
    /** The server keeps the queue. */
    advisory: async path => {
      await db.query(`select pg_advisory_lock(${idOf(path)})`)
      return async () => {
        await db.query(`select pg_advisory_unlock(${idOf(path)})`)
      }
    },
    /** The holder notifies all waiters, and each tries. */
    notify: async path => {
      if (listensTo !== path) await db.query(`listen "${path}"`)
      listensTo = path
      for (;;) {
        const told = new Promise<void>(resolve => (tell = resolve))
        if ((await db.query(`select pg_try_advisory_lock(${idOf(path)})`)) === 't') break
        let timer: NodeJS.Timeout | undefined
        await Promise.race([told, new Promise<void>(resolve => (timer = setTimeout(resolve, FALLBACK)))])
        clearTimeout(timer)
      }
      return async () => {
        await db.query(`select pg_advisory_unlock(${idOf(path)}), pg_notify('${path}', '')`)
      }
    },
  }
  return {
    acquire: (recipe, path) => recipes[recipe]?.(path) ?? Promise.reject(new Error(`unknown recipe: ${recipe}`)),
    close: () => {
      db.close()
      return Promise.resolve()
    },
  }
})
