// A measuring process: receives one task from its parent, and replies with a sample.
// May import: bench/throughput/workloads.ts, src/index.ts, src/protocol/index.ts, src/recipes/index.ts.
import type { SubjectName, Sample, Task } from '../workloads.ts'
import type { Make } from './subject.ts'
import { handOver } from './hand-over.ts'
import { inTurns, steady } from './steady.ts'
import { floor, lean } from './lean.ts'
import { memory, notifications, opening } from './sessions.ts'
import { nodeZookeeperClient } from './node-zookeeper-client.ts'
import { raw } from './raw.ts'
import { zkwire } from './zkwire.ts'
import { zookeeper } from './zookeeper.ts'

const makers: Record<Exclude<SubjectName, 'curator'>, Make> = {
  zkwire,
  before: zkwire,
  raw,
  lean,
  floor,
  'node-zookeeper-client': nodeZookeeperClient,
  zookeeper,
}

async function measure(task: Task): Promise<Sample | 'ready'> {
  const { measure, subject } = task
  if (subject === 'curator') throw new Error('Curator is measured by a Java program')
  if (measure.is === 'handOver') return handOver(task, measure)
  const made = await makers[subject](task)
  switch (measure.is) {
    case 'steady':
      return task.isInTurns === true ? inTurns(made, measure, task) : steady(made, measure, task)
    case 'notifications':
      return notifications(made, measure.sessions)
    case 'opening':
      return opening(made, measure.sessions)
    case 'memory':
      return memory(made, measure.sessions)
  }
}

process.once('message', (task: Task) => {
  void measure(task).then(sample => process.send?.(sample, () => process.exit(0)))
})
