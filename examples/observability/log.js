// A line of pino's log for each change that an operator wants to know, and for no call.
import { subscribe } from 'node:diagnostics_channel'

/** Call it once, before the first connect(). */
export function logEvents(log) {
  const hex = id => `0x${id.toString(16)}`
  const failures = new Map() // of each session without a connection: one line when it is lost, and the number afterwards
  subscribe('zkwire:connect', ({ sessionId, address, readOnly }) => {
    const fields = { session: hex(sessionId), server: `${address.host}:${address.port}`, readOnly }
    // A session has the id 0 until a server has accepted it.
    log.info({ ...fields, failures: failures.get(sessionId) ?? failures.get(0n) ?? 0 }, 'connected')
    for (const id of [sessionId, 0n]) failures.delete(id)
  })
  subscribe('zkwire:disconnect', ({ sessionId, cause }) => {
    const what = sessionId === 0n ? 'no connection yet' : 'connection lost'
    if (!failures.has(sessionId)) log.warn({ session: hex(sessionId), cause: cause.message }, what)
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
    const cause = error?.cause?.code
    const fields = { lock, token: String(held.token), heldMs: Math.round(ms), cause }
    if (cause === 'CLOSED') log.warn(fields, 'session closed before the lock was released')
    else if (error) log.error(fields, 'lock lost')
    else log.info(fields, 'lock released')
  })
}
