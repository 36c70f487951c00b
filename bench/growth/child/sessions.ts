// Many sessions in one process: the cost of a call, the cost of opening and closing further sessions, and the memory.
import { connect, type Client } from '../../../src/index.ts'
import { SESSION_TIMEOUT } from '../../harness/sessions.ts'
import { paths } from '../../throughput/workloads.ts'
import type { Task } from '../workloads.ts'
import { inBatches, liveHeap, memory, repeated, type Probes } from './probe.ts'

const BATCH = 100

export async function sessions({ size, mock }: Task): Promise<Probes> {
  const open = () => connect(mock, { sessionTimeout: SESSION_TIMEOUT })
  const before = await liveHeap()
  const clients: Client[] = []
  await inBatches(size, BATCH, async () => clients.push(await open()))
  let next = 0
  return {
    getData: repeated(async () => {
      await Promise.all(Array.from({ length: BATCH }, () => (clients[next++ % size] as Client).getData(paths.data)))
      return BATCH
    }),
    opened: repeated(async () => {
      const more = await Promise.all(Array.from({ length: BATCH }, open))
      await Promise.all(more.map(client => client.close()))
      return BATCH
    }),
    memory: memory(size, before),
  }
}
