// The contenders of etcd. Each has a lease, which ends its keys if it is not renewed.
import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../peers/drivers/lines.ts'
import { EtcdConnection } from '../clients/etcd.ts'
import type { Fields, Message } from '../clients/protobuf.ts'

/** The lease is renewed three times in its time, as the client of Go does. */
const RENEWALS = 3
/** The pause before a request that failed is sent again, ms: the servers may be electing a leader. */
const RETRY = 20
const DELETED = 1n

const KV = 'etcdserverpb.KV'

/** The first key of a prefix by the revision of its creation, or the last one up to a revision. */
const byCreation = (prefix: string, order: 'first' | 'last', upTo = 0n): Message => ({
  1: prefix,
  2: `${prefix.slice(0, -1)}0`,
  3: 1,
  5: order === 'first' ? 1 : 2,
  6: 2,
  ...(upTo > 0n && { 13: upTo }),
})

await serve(async (address, timeToLive) => {
  const [host = '', port] = address.split(':')
  const etcd = await EtcdConnection.open(host, Number(port))
  const seconds = Math.ceil(timeToLive / 1000)
  const lease = (await etcd.call('etcdserverpb.Lease/LeaseGrant', { 1: seconds })).number(2)
  const renew = etcd.stream('etcdserverpb.Lease/LeaseKeepAlive', () => undefined)
  const renewal = setInterval(() => renew({ 1: lease }), (seconds * 1000) / RENEWALS)

  const watching = new Map<string, () => void>()
  let watch: ((message: Message) => void) | undefined
  const deletion = (key: string, from: bigint): Promise<void> =>
    new Promise(resolve => {
      watching.set(key, resolve)
      watch ??= etcd.stream('etcdserverpb.Watch/Watch', response => {
        for (const event of response.messages(11)) {
          const name = event.message(2).bytes(1).toString()
          if (event.number(1) !== DELETED) continue
          watching.get(name)?.()
          watching.delete(name)
          // A watch that is not cancelled would notify of the key of the next holder too.
          watch?.({ 2: { 1: response.number(2) } })
        }
      })
      watch({ 1: { 1: key, 3: from } })
    })

  /** Deletes the key. Tries again until a leader has done it, because a second deletion changes nothing. */
  const remove = async (key: string): Promise<void> => {
    for (;;)
      try {
        await etcd.call(`${KV}/DeleteRange`, { 1: key })
        return
      } catch {
        await delay(RETRY)
      }
  }

  /** Reads again until a leader answers. */
  const range = async (message: Message): Promise<Fields> => {
    for (;;)
      try {
        return await etcd.call(`${KV}/Range`, message)
      } catch {
        await delay(RETRY)
      }
  }

  const recipes: Record<string, (path: string) => Promise<() => Promise<void>>> = {
    /** The lock of the client of Go: a key under the lease, and a watch of the key before it. */
    mutex: async path => {
      const prefix = `${path}/`
      const key = `${prefix}${lease.toString(16)}`
      const answer = await etcd.call(`${KV}/Txn`, {
        1: { 1: 0, 2: 1, 3: key, 5: 0 },
        2: [{ 2: { 1: key, 3: lease } }, { 1: byCreation(prefix, 'first') }],
        3: [{ 1: { 1: key } }, { 1: byCreation(prefix, 'first') }],
      })
      const own = answer.message(1).number(3)
      const [, first] = answer.messages(3)
      const release = () => remove(key)
      if (first?.message(1).message(2).bytes(1).toString() === key) return release
      for (;;) {
        const found = await range(byCreation(prefix, 'last', own - 1n))
        const [before] = found.messages(2)
        if (before === undefined) break
        await deletion(before.bytes(1).toString(), found.message(1).number(3) + 1n)
      }
      await range({ 1: key })
      return release
    },
  }
  return {
    acquire: (recipe, path) => recipes[recipe]?.(path) ?? Promise.reject(new Error(`unknown recipe: ${recipe}`)),
    close: () => {
      clearInterval(renewal)
      etcd.close()
      return Promise.resolve()
    },
  }
})
