// A worker thread with a part of the sessions. It executes the commands of the main thread, and reports completed
// phases.
import { parentPort, workerData } from 'node:worker_threads'
import { execute, type CommandMessage, type Notice } from './messages.ts'
import { monotonicMs, Performer } from './performer.ts'
import { ProgressCounters, type ProgressMemory } from './progress-counters.ts'

export interface WorkerData {
  servers: string
  fencePath: string
  progress: ProgressMemory
}

const { servers, fencePath, progress: memory } = workerData as WorkerData
const port = parentPort
if (port === null) throw new Error('worker.ts must be started as a worker thread')

const notify = (notice: Notice) => port.postMessage(notice)
const progress = new ProgressCounters(memory, () => notify({ is: 'reached' }))
const performer = new Performer({
  ...{ servers, fencePath, now: monotonicMs },
  marked: () => progress.marked(),
  framePassed: () => progress.framePassed(),
  otherFramePassed: () => progress.otherFramePassed(),
  opened: () => notify({ is: 'opened' }),
  failed: error => notify({ is: 'failed', error }),
})
port.on('message', (message: CommandMessage) => {
  void execute(performer, message).then(reply => port.postMessage(reply))
})
