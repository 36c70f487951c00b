// Metrics of prom-client, made of what zkwire publishes on its channels.
import { subscribe } from 'node:diagnostics_channel'
import { Counter, Gauge, Histogram } from 'prom-client'

/** Call it once, before the first connect(). Returns nothing: the metrics are in the registry. */
export function collectMetrics(register) {
  const registers = [register]
  const calls = new Histogram({
    ...{ name: 'zkwire_call_seconds', help: 'Time of a call', labelNames: ['op', 'outcome'], registers },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  })
  const changes = new Counter({
    ...{ name: 'zkwire_state_changes_total', help: 'Changes of sessions', labelNames: ['state'], registers },
  })
  const waits = new Histogram({
    ...{ name: 'zkwire_lock_wait_seconds', help: 'Time of an acquire', labelNames: ['lock', 'outcome'], registers },
  })
  const lost = new Counter({ name: 'zkwire_locks_lost_total', help: 'Lost locks', labelNames: ['lock'], registers })
  const held = new Set()
  new Gauge({
    ...{ name: 'zkwire_locks_held', help: 'Locks that are held', registers },
    collect() {
      this.set(held.size)
    },
  })

  subscribe('zkwire:request', ({ op, error, ms }) => {
    calls.observe({ op, outcome: error?.code ?? error?.name ?? 'ok' }, ms / 1000)
  })
  subscribe('zkwire:state', ({ state }) => changes.inc({ state }))
  subscribe('zkwire:acquire', ({ lock, held: now, error, ms }) => {
    waits.observe({ lock, outcome: now ? 'held' : (error?.code ?? error?.name ?? 'taken') }, ms / 1000)
    if (now && !now.signal.aborted) held.add(now)
  })
  subscribe('zkwire:release', ({ lock, held: ended, error }) => {
    held.delete(ended)
    if (error) lost.inc({ lock })
  })
}
