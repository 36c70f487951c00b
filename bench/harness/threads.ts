// Units in worker threads of this process.
import { Worker } from 'node:worker_threads'
import type { Notice, Reply } from './messages.ts'
import type { WorkerData } from './worker.ts'
import type { UnitStart } from './workers.ts'

/** Registers tsx in the worker, because tsx loads TypeScript only in threads that have registered it. */
const boot = (module: string) =>
  `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`

export function threadUnits(threads: number, servers: string, fencePath: string): UnitStart[] {
  const thread = boot(new URL('worker.ts', import.meta.url).href)
  return Array.from({ length: threads }, (): UnitStart => ({ progress, received, lost }) => {
    const workerData: WorkerData = { servers, fencePath, progress }
    const worker = new Worker(thread, { eval: true, workerData })
    worker.on('message', (message: Notice | Reply) => received(message))
    worker.on('error', lost)
    worker.on('exit', () => lost(new Error('a worker thread has exited')))
    return { clock: 'here', send: message => worker.postMessage(message), terminate: () => worker.terminate() }
  })
}
