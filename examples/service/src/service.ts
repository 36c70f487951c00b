// One of several processes does the work: the leader. The others wait to replace it.
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isCode, supervise, type Client, type Outage } from 'zkwire'
import { LeaderElection, type Held } from 'zkwire/recipes'
import { Metrics } from './metrics.ts'

export interface ServiceOptions {
  servers: string
  sessionTimeout: number
  /** The name of this process for the others. */
  id: string
  port: number
  log: Logger
  /** Aborts when the process must stop. */
  signal: AbortSignal
}

const ELECTION = '/service/leader'
const COUNT = '/service/count'

export async function runService({ servers, sessionTimeout, id, port, log, signal }: ServiceOptions): Promise<void> {
  const metrics = new Metrics()
  const http = await listen(metrics, port)
  // Two lines for an outage, however many attempts fail.
  const onOutage = ({ phase, ms, failures, error }: Outage) => {
    metrics.connected.set(phase === 'ended' ? 1 : 0)
    if (phase === 'began') {
      metrics.outages.inc()
      log.warn({ error: error.message }, 'ZooKeeper is away')
    } else {
      metrics.outageSeconds.inc(ms / 1000)
      log.info({ ms, failures }, 'ZooKeeper is back')
    }
  }
  try {
    await supervise(servers, { signal, sessionTimeout, onOutage }, async (zk, ending) => {
      metrics.connected.set(1)
      log.info({ sessionTimeout: zk.sessionTimeout }, 'session')
      await zk.ensurePath(COUNT)
      await new LeaderElection(zk, ELECTION, { id }).lead(held => lead(zk, held, metrics, log), { signal: ending })
    })
  } catch (error) {
    if (error !== signal.reason) throw error
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

/** Works until the signal of `held` aborts: this process must stop, or it is not the leader any more. */
async function lead(zk: Client, held: Held, metrics: Metrics, log: Logger): Promise<void> {
  metrics.leading.set(1)
  log.info({ token: String(held.token) }, 'leading')
  try {
    while (!held.signal.aborted) {
      await step(zk, held).then(
        () => metrics.steps.inc(),
        (error: unknown) => {
          // A lost reply: the next step reads what is true. NONODE: the lock is lost, and the signal aborts.
          if (!held.signal.aborted && !isCode(error, 'CONNECTIONLOSS', 'BADVERSION', 'NONODE')) throw error
        },
      )
      await sleep(200, undefined, { signal: held.signal }).catch(() => undefined)
    }
  } finally {
    metrics.leading.set(0)
    log.info({ reason: String(held.signal.reason) }, 'not leading')
  }
}

/** One step of the work. It takes less time than terminationGracePeriodSeconds of the pod. */
async function step(zk: Client, held: Held): Promise<void> {
  const { data, stat } = await zk.getData(COUNT, { signal: held.signal })
  const next = Number(data ?? 0) + 1
  // The server executes it only if this process still leads.
  await held.guard().setData(COUNT, String(next), { version: stat.version }).commit()
}

/** /healthz: the process runs. /readyz: ZooKeeper serves it. /metrics: the figures. */
function listen(metrics: Metrics, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url === '/metrics') {
        response.setHeader('content-type', metrics.registry.contentType)
        response.end(await metrics.registry.metrics())
        return
      }
      const isReady = (await metrics.connected.get()).values[0]?.value === 1
      const status = request.url === '/healthz' || (request.url === '/readyz' && isReady) ? 200 : 503
      response.writeHead(status).end()
    })()
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, () => resolve(server))
  })
}
