// The embedded server in a separate process, so that its costs can be measured separately from those of the clients.
import { Server } from '../../src/server/index.ts'
import { SESSION_TIMEOUT } from './sessions.ts'

// The server ignores signals, so that sessions can still be closed. It exits when its parent exits.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())

/** The longest request in bytes: large enough for every frame size that the benchmarks send. */
const MAX_REQUEST = 16 * 1024 * 1024

const server = await Server.start({ maxSessionTimeout: SESSION_TIMEOUT, maxRequestBytes: MAX_REQUEST })
process.on('message', () => process.send?.(server.stats))
process.send?.(server.connectString)
