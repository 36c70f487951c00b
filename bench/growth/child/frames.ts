// Large frames in both directions, and long lists of names.
import { Buffer } from 'node:buffer'
import { connect } from '../../../src/index.ts'
import { SESSION_TIMEOUT } from '../../harness/sessions.ts'
import type { Task } from '../workloads.ts'
import { inBatches, repeated, type Probes } from './probe.ts'

/** The bytes in flight, the same for every frame size unless a single frame is larger. */
const BYTES_IN_FLIGHT = 1_048_576
const MAX_IN_FLIGHT = 64
const KILOBYTE = 1024

export async function frames({ size, server, directory }: Task): Promise<Probes> {
  const client = await connect(server, { sessionTimeout: SESSION_TIMEOUT, maxRequestBytes: size + KILOBYTE })
  const data = Buffer.alloc(size, 'x')
  await client.setData(directory, data)
  const count = Math.min(MAX_IN_FLIGHT, Math.ceil(BYTES_IN_FLIGHT / size))
  const all = (call: () => Promise<unknown>) =>
    repeated(async () => {
      await Promise.all(Array.from({ length: count }, call))
      return (count * size) / KILOBYTE
    })
  return { getData: all(() => client.getData(directory)), setData: all(() => client.setData(directory, data)) }
}

export async function names({ size, server, directory }: Task): Promise<Probes> {
  const client = await connect(server, { sessionTimeout: SESSION_TIMEOUT })
  await inBatches(size, 1000, i => client.create(`${directory}/member-${String(i).padStart(10, '0')}`))
  const getChildren = repeated(async () => (await client.getChildren(directory)).children.length)
  return { getChildren }
}
