// Charges each order once, however many requests and instances ask for it.
import { Inject, Injectable } from '@nestjs/common'
import { isCode, Sessions, type Client } from 'zkwire'
import type { Held } from 'zkwire/recipes'
import { WithLock } from './with-lock.decorator.ts'

/** How long a request may wait for ZooKeeper, or for another request, in milliseconds. */
const timeout = Number(process.env['TIMEOUT'] ?? 5_000)

@Injectable()
export class OrdersService {
  readonly sessions: Sessions

  constructor(@Inject(Sessions) sessions: Sessions) {
    this.sessions = sessions
  }

  @WithLock((id: string) => `/locks/order-${id}`, { timeout })
  async charge(id: string, held?: Held): Promise<{ charged: 'now' | 'before' }> {
    if (await this.isCharged(id)) return { charged: 'before' }
    // Here is the work that no two instances may do at the same time. It should stop when held.signal aborts.
    await this.#again(zk => zk.ensurePath('/orders'))
    const record = () => Promise.resolve(held?.guard().create(`/orders/${id}`, String(held.token)).commit())
    await this.#again(record).catch((error: unknown) => {
      // The reply to an earlier attempt was lost. No other request can have created the node.
      if (!isCode(error, 'NODEEXISTS')) throw error
    })
    return { charged: 'now' }
  }

  async isCharged(id: string): Promise<boolean> {
    return (await this.#again((zk, signal) => zk.exists(`/orders/${id}`, { signal }))) !== null
  }

  /** Repeats a task that may be executed twice, as long as its connection is lost. */
  #again<T>(task: (zk: Client, signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.sessions.use({ timeout }, (zk, { signal }) => zk.retry(() => task(zk, signal), { signal }))
  }
}
