// The embedded server in a process of its own: what it costs is not mixed up with what its clients cost.
import { Server } from '../../src/server/index.ts'
import { SESSION_TIMEOUT } from './sessions.ts'

// It ends with the process that started it, whatever becomes of that one, and not before: sessions are to be closed in good order.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())

/** Frames of any size are measured too. */
const MAX_BUFFER = 16 * 1024 * 1024

const server = await Server.start({ maxSessionTimeout: SESSION_TIMEOUT, maxRequestBytes: MAX_BUFFER })
process.on('message', () => process.send?.(server.stats))
process.send?.(server.connectString)
