// Starts the service, and stops it at SIGTERM or Ctrl-C.
import { hostname } from 'node:os'
import { pino } from 'pino'
import { runService } from './service.ts'

const { ZOOKEEPER = 'localhost:2181', SESSION_TIMEOUT = '10000', POD_NAME = hostname(), PORT = '8080' } = process.env
const log = pino()
const stop = new AbortController()
// By once(), so that a second Ctrl-C ends the process at once.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())

await runService({
  ...{ servers: ZOOKEEPER, sessionTimeout: Number(SESSION_TIMEOUT), id: POD_NAME, port: Number(PORT) },
  ...{ log, signal: stop.signal },
})
log.info('stopped')
