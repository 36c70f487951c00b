// What is measured, and what is aimed at. Pure data, shared by the harness and the processes that it starts.

export type Steady = 'getData' | 'setData' | 'createAndDelete' | 'getChildren'

/** What one process measures. */
export type Measure =
  | { is: 'steady'; op: Steady; inFlight: number }
  | { is: 'notifications'; sessions: number }
  | { is: 'opening'; sessions: number }
  | { is: 'memory'; sessions: number }
  | HandOver

/** Each contender acquires so many times in a round; as many rounds again go before, to warm up. */
export interface HandOver {
  is: 'handOver'
  contenders: number
  acquisitions: number
  rounds: number
}

export const subjects = ['zkwire', 'raw', 'node-zookeeper-client', 'zookeeper', 'curator'] as const
export type SubjectName = (typeof subjects)[number]

/** What is made of a measurement: microseconds of processor time, operations a second, milliseconds in all, kilobytes. */
export type Figure = 'cpu' | 'rate' | 'ms' | 'kilobytes'

export interface Target {
  figure: Figure
  /** Ours is divided by that of this subject, or by our own in another workload. */
  by: { subject: SubjectName } | { workload: string }
  /** Where a smaller ratio is the better one. */
  atMost?: number
  /** Where a larger one is. */
  atLeast?: number
}

export interface Workload {
  name: string
  on: 'server' | 'mock'
  measure: Measure
  by: readonly SubjectName[]
  targets: readonly Target[]
}

const everySubject = ['zkwire', 'raw', 'node-zookeeper-client', 'zookeeper'] as const

const cpu = (atMost: number): Target => ({ figure: 'cpu', by: { subject: 'raw' }, atMost })
const rate = (atLeast: number): Target => ({ figure: 'rate', by: { subject: 'raw' }, atLeast })

const steady = (on: Workload['on'], op: Steady, inFlight: number, ...targets: Target[]): Workload => ({
  name: `${op} ${inFlight}${on === 'mock' ? ', mock' : ''}`,
  on,
  measure: { is: 'steady', op, inFlight },
  by: everySubject,
  targets,
})

export const workloads: readonly Workload[] = [
  steady('server', 'getData', 1, cpu(1.15)),
  steady('server', 'getData', 64, cpu(1.25)),
  steady('server', 'getData', 512, cpu(1.25)),
  steady('server', 'setData', 64, cpu(1.25)),
  steady('server', 'createAndDelete', 64, cpu(1.25)),
  steady('server', 'getChildren', 16, cpu(2)),
  steady('mock', 'getData', 64, rate(0.4)),
  steady('mock', 'getData', 512, { figure: 'rate', by: { workload: 'getData 64, mock' }, atLeast: 1.8 }),
  steady('mock', 'setData', 64),
  steady('mock', 'getChildren', 16, rate(0.11)),
  {
    name: 'notifications',
    on: 'server',
    measure: { is: 'notifications', sessions: 1000 },
    by: everySubject,
    targets: [cpu(1.4)],
  },
  {
    name: 'opening sessions',
    on: 'server',
    measure: { is: 'opening', sessions: 1000 },
    by: everySubject,
    targets: [cpu(1.4)],
  },
  {
    name: 'memory of a session',
    on: 'server',
    measure: { is: 'memory', sessions: 2000 },
    by: everySubject,
    targets: [{ figure: 'kilobytes', by: { subject: 'zookeeper' }, atMost: 1 }],
  },
  {
    name: 'lock hand-over',
    on: 'server',
    measure: { is: 'handOver', contenders: 100, acquisitions: 5, rounds: 3 },
    by: ['zkwire', 'curator'],
    targets: [{ figure: 'ms', by: { subject: 'curator' }, atMost: 0.35 }],
  },
]

/** Where things lie at the server and at the mock alike. */
export const paths = {
  data: '/zkwire-throughput/data',
  list: '/zkwire-throughput/list',
  watched: '/zkwire-throughput/watched',
  lock: '/zkwire-throughput/lock',
} as const

export const DATA_BYTES = 100
export const NAMES = 1000
/** 17 bytes, as of a short lock's nodes. */
export const nameOf = (index: number): string => `member-${String(index).padStart(10, '0')}`

/** What a measuring process is told. */
export interface Task {
  subject: SubjectName
  measure: Measure
  port: number
  /** An empty persistent node of this task's own. */
  directory: string
  /** Milliseconds of warming up, and of measuring. */
  warmUp: number
  span: number
  /** The built client, and the folder with the peers, as file URLs. */
  dist: string
  peers: string
}

/** What it tells. */
export interface Sample {
  operations: number
  /** Processor time of the whole process, microseconds. */
  cpu: number
  ms: number
  /** Milliseconds. */
  p50?: number
  p99?: number
  bytes?: number
}
