// Starts the web service, and ends it in order at SIGTERM or Ctrl-C.
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.ts'

const { HOST = '0.0.0.0', PORT = '8080' } = process.env

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
let isStopping = false
// Otherwise a client that uses its open connection again and again would keep the server from closing.
app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
  if (isStopping) response.setHeader('connection', 'close')
  next()
})
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    isStopping = true
    void app.close()
  })
await app.listen(Number(PORT), HOST)
