// A line of pino's log for each change that an operator wants to know, and for no call.
import { subscribe } from 'node:diagnostics_channel'

/** Call it once, before the first connect(). */
export function logEvents(log) {
  const hex = id => `0x${id.toString(16)}`
  const failures = new Map() // of each session without a connection: one line when it is lost, and the number afterwards
  subscribe('zkwire:connect', ({ sessionId, address, readOnly }) => {
    const fields = { session: hex(sessionId), server: `${address.host}:${address.port}`, readOnly }
    log.info({ ...fields, failures: failures.get(sessionId) ?? 0 }, 'connected')
    failures.delete(sessionId)
  })
  subscribe('zkwire:disconnect', ({ sessionId, cause }) => {
    if (!failures.has(sessionId)) log.warn({ session: hex(sessionId), cause: cause.message }, 'connection lost')
    failures.set(sessionId, Number(failures.get(sessionId) ?? 0) + 1)
  })
  subscribe('zkwire:state', ({ sessionId, state, previous }) => {
    const fields = { session: hex(sessionId), state, previous }
    if (state === 'expired' || state === 'authFailed') log.error(fields, 'state changed')
    else log.info(fields, 'state changed')
    if (state === 'closed' || state === 'expired' || state === 'authFailed') failures.delete(sessionId)
  })
  subscribe('zkwire:acquire', ({ lock, held, ms }) => {
    if (held) log.info({ lock, token: String(held.token), waitedMs: Math.round(ms) }, 'lock held')
  })
  subscribe('zkwire:release', ({ lock, held, error, ms }) => {
    const fields = { lock, token: String(held.token), heldMs: Math.round(ms) }
    if (error) log.error({ ...fields, cause: error.cause?.code }, 'lock lost')
    else log.info(fields, 'lock released')
  })
}
