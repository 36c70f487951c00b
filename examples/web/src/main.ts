// Starts the web service, and ends it in order at SIGTERM or Ctrl-C.
import { Sessions } from 'zkwire'
import { webService } from './web-service.ts'

const { ZOOKEEPER = 'localhost:2181', SESSION_TIMEOUT = '10000', HOST = '0.0.0.0', PORT = '8080' } = process.env

const sessions = new Sessions(ZOOKEEPER, { sessionTimeout: Number(SESSION_TIMEOUT) })
const app = webService(sessions)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void app.close())
await app.listen({ host: HOST, port: Number(PORT) })
