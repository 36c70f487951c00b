// A web service of several instances: a lock for each order, reads, and what a probe asks.
import Fastify, { type FastifyInstance } from 'fastify'
import { isCode, type Client, type Sessions } from 'zkwire'
import { Mutex, RecipeError, type Held } from 'zkwire/recipes'

/** How long a request may wait for ZooKeeper, or for another request, in milliseconds. */
const timeout = Number(process.env['TIMEOUT'] ?? 5_000)

/** The id of an order is a part of paths. Fastify answers others with 400. */
const schema = { params: { type: 'object', properties: { id: { type: 'string', pattern: '^[\\w-]+$' } } } }

export function webService(sessions: Sessions): FastifyInstance {
  // While it closes, Fastify answers what still arrives on open connections, and then ends them.
  const app = Fastify({ return503OnClosing: false })
  // Fastify calls it when the requests in hand have been answered.
  app.addHook('onClose', () => sessions.close({ timeout: 20_000 }))

  app.setErrorHandler((error, _request, reply) => {
    if (!isUnavailable(error)) return reply.send(error)
    return reply
      .code(503)
      .header('retry-after', '1')
      .send({ error: String(error) })
  })

  app.post<{ Params: { id: string } }>('/orders/:id/charge', { schema }, ({ params: { id } }) => {
    const lock = (zk: Client) => new Mutex(zk, `/locks/order-${id}`)
    return sessions.withLock(lock, { timeout }, held => charge(sessions, id, held))
  })

  app.get<{ Params: { id: string } }>('/orders/:id', { schema }, async ({ params: { id } }) => {
    const stat = await again(sessions, (zk, signal) => zk.exists(`/orders/${id}`, { signal }))
    return { charged: stat !== null }
  })

  // The process runs. It does not ask ZooKeeper: an outage must not kill the instances.
  app.get('/healthz', () => 'ok')
  app.get('/readyz', async () => {
    await sessions.whenReady({ timeout: 1_000 })
    return sessions.status
  })
  return app
}

/** Charges an order once. The caller holds its lock. */
async function charge(sessions: Sessions, id: string, held: Held): Promise<{ charged: 'now' | 'before' }> {
  const path = `/orders/${id}`
  const stat = await again(sessions, (zk, signal) => zk.exists(path, { signal }))
  if (stat !== null) return { charged: 'before' }
  // Here is the work that no two instances may do at the same time. It should stop when held.signal aborts.
  await again(sessions, zk => zk.ensurePath('/orders'))
  await again(sessions, () => held.guard().create(path, String(held.token)).commit()).catch((error: unknown) => {
    // The reply to an earlier attempt was lost. No other request can have created the node.
    if (!isCode(error, 'NODEEXISTS')) throw error
  })
  return { charged: 'now' }
}

/** Repeats a task that may be executed twice, as long as its connection is lost. */
const again = <T>(sessions: Sessions, task: (zk: Client, signal: AbortSignal) => Promise<T>): Promise<T> =>
  sessions.use({ timeout }, (zk, { signal }) => zk.retry(() => task(zk, signal), { signal }))

/** The caller may try again: ZooKeeper does not serve the call, or another request has the lock for too long. */
const isUnavailable = (error: unknown): boolean =>
  isCode(error, 'CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'SESSIONEXPIRED', 'CLOSED') ||
  (error instanceof RecipeError && (error.code === 'TIMEOUT' || error.code === 'LOST'))
