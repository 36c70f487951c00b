// A function of a cloud in a process of its own: each line is an invocation, which holds a lock. Replies with the session.
import { createInterface } from 'node:readline'
import { Sessions, type Client } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'

const [servers = '', path = '', sessionTimeout = '', idleTimeout = ''] = process.argv.slice(2)
const sessions = new Sessions(servers, {
  sessionTimeout: Number(sessionTimeout),
  idleTimeout: idleTimeout === '' ? undefined : Number(idleTimeout),
})
const lock = (client: Client) => new Mutex(client, path)

for await (const line of createInterface({ input: process.stdin })) {
  const invoking = sessions.withLock(lock, { timeout: 20_000 }, held => `${held.validFor() > 0} ${held.path}`)
  const reply = await invoking.catch((error: unknown) => `!${String(error)}`)
  console.log(line === 'pid' ? process.pid : reply)
}
await sessions.close()
