// A process whose first use of async context is a task that acquires a lock byContext. Prints whether the caller that
// awaits the task is treated as the holder too.
import { connect } from '../../../src/index.ts'
import { ReentrantMutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'

await using server = await Server.start({ listen: false })
await using client = await connect(server.connectString, { dial: server.dial })
const lock = new ReentrantMutex(client, '/lock', { byContext: true })
const task = async () => {
  await client.exists('/')
  return lock.acquire()
}
await using held = await task()
console.log(`token ${held.token}, ${(await lock.tryAcquire()) === null ? 'out' : 'in'}`)
