// A measuring process of one subject.
// May import: bench/measure/statistics.ts, bench/processes, bench/throughput/workloads.ts, src/index.ts,
// src/protocol/index.ts, src/recipes/index.ts.
import { answerTurns } from '../../processes/answer-turns.ts'
import type { Turns } from '../../processes/turns.ts'
import type { SubjectName, Task } from '../workloads.ts'
import type { Make } from './subject.ts'
import { handOver } from './hand-over.ts'
import { steady } from './steady.ts'
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

answerTurns(async (task: Task): Promise<Turns> => {
  const { measure, subject } = task
  if (subject === 'curator') throw new Error('Curator is measured by a Java program')
  if (measure.is === 'handOver') return handOver(task, measure)
  const made = await makers[subject](task)
  switch (measure.is) {
    case 'steady':
      return steady(made, measure, task)
    case 'notifications':
      return notifications(made, measure.sessions)
    case 'opening':
      return opening(made, measure.sessions)
    case 'memory':
      return memory(made, measure.sessions)
  }
})
