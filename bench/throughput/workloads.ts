// The workloads and their targets. Pure data, shared by the main process and the measuring processes.

export type Steady = 'getData' | 'setData' | 'createAndDelete' | 'getChildren'

/** The measurement of one process. */
export type Measure =
  | { is: 'steady'; op: Steady; inFlight: number }
  | { is: 'notifications'; sessions: number }
  | { is: 'opening'; sessions: number }
  | { is: 'memory'; sessions: number }
  | HandOver

/**
 * Each contender acquires the lock `acquisitions` times in a turn, and {@link WARM_UP_ACQUISITIONS} times before the first one.
 */
export interface HandOver {
  is: 'handOver'
  /** `signalled` is no lock of zkwire: see child/plain-locks.ts. */
  lock: 'Mutex' | 'TicketMutex' | 'signalled'
  contenders: number
  acquisitions: number
}

/** Enough for V8 and the Java machines, also that of the server, to compile the code under measurement. */
export const WARM_UP_ACQUISITIONS = 30

/**
 * `lean` is the leanest client that decodes replies. `floor` is that client with a promise for each call and 64-bit
 * integers, which our interface promises.
 */
export const subjects = ['zkwire', 'raw', 'lean', 'floor', 'node-zookeeper-client', 'zookeeper', 'curator'] as const
/** `before` is zkwire as it was at another commit. */
export type SubjectName = (typeof subjects)[number] | 'before'

/** Microseconds of processor time per operation, operations per second, milliseconds in total, or kilobytes. */
export type Figure = 'cpu' | 'rate' | 'ms' | 'kilobytes'

export interface Target {
  figure: Figure
  /** The figure of zkwire is divided by that of this subject, or by its own in another workload. */
  by: { subject: SubjectName } | { workload: string }
  /** Upper limit of the ratio, if smaller is better. */
  atMost?: number
  /** Lower limit of the ratio, if larger is better. */
  atLeast?: number
}

export interface Workload {
  name: string
  /** `remote` is the server behind a proxy that delays each chunk of bytes by a millisecond, in both directions. */
  on: 'server' | 'remote' | 'mock'
  measure: Measure
  by: readonly SubjectName[]
  targets: readonly Target[]
}

const everySubject = ['zkwire', 'raw', 'node-zookeeper-client', 'zookeeper'] as const
const everyCaller = [...everySubject, 'lean'] as const

const cpu = (atMost: number, subject: SubjectName = 'raw'): Target => ({ figure: 'cpu', by: { subject }, atMost })
/** The cost of a call may be so many times that of the leanest client. */
const LEAN = 1.7
const rate = (atLeast: number): Target => ({ figure: 'rate', by: { subject: 'raw' }, atLeast })

const steady = (on: Workload['on'], op: Steady, inFlight: number, ...targets: Target[]): Workload => ({
  name: `${op} ${inFlight}${on === 'mock' ? ', mock' : ''}`,
  on,
  measure: { is: 'steady', op, inFlight },
  by: everyCaller,
  targets,
})

const handOver = (
  lock: HandOver['lock'],
  on: 'server' | 'remote',
  size: Pick<HandOver, 'contenders' | 'acquisitions'>,
  atMost: number,
): Workload => ({
  name: `${lock} hand-over${on === 'remote' ? ', 1 ms away' : ''}`,
  on,
  measure: { is: 'handOver', lock, ...size },
  by: lock === 'signalled' ? ['raw', 'curator'] : ['zkwire', 'curator', 'node-zookeeper-client', 'raw'],
  targets: [
    { figure: 'ms', by: { subject: 'curator' }, atMost },
    { figure: 'ms', by: { subject: 'node-zookeeper-client' }, atMost: 1 },
  ],
})

/** The acquisitions of one turn, which must be short. */
const acquisitions = 5
const crowd = { contenders: 100, acquisitions }
const fewRemote = { contenders: 20, acquisitions }

export const workloads: readonly Workload[] = [
  steady('server', 'getData', 1, cpu(1.15)),
  steady('server', 'getData', 64, cpu(1.3)),
  steady('server', 'getData', 512, cpu(1.25)),
  steady('server', 'setData', 64, cpu(1.25)),
  steady('server', 'createAndDelete', 64, cpu(1.25)),
  steady('server', 'getChildren', 16, cpu(2)),
  steady('mock', 'getData', 64, cpu(LEAN, 'lean'), rate(0.4)),
  steady('mock', 'getData', 512, cpu(LEAN, 'lean'), {
    figure: 'rate',
    by: { workload: 'getData 64, mock' },
    atLeast: 1.8,
  }),
  steady('mock', 'setData', 64, cpu(LEAN, 'lean')),
  steady('mock', 'createAndDelete', 64, cpu(LEAN, 'lean')),
  steady('mock', 'getChildren', 16, rate(0.11)),
  {
    name: 'notifications',
    on: 'server',
    measure: { is: 'notifications', sessions: 1000 },
    by: [...everyCaller, 'floor'],
    targets: [cpu(1.3)],
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
  handOver('Mutex', 'server', crowd, 0.62),
  handOver('TicketMutex', 'server', crowd, 0.5),
  handOver('Mutex', 'remote', fewRemote, 0.5),
  handOver('TicketMutex', 'remote', fewRemote, 0.5),
  handOver('signalled', 'server', crowd, 1),
]

/** True if the processes of all subjects are measured in turns. Otherwise each is measured once, without the others. */
export const isInTurns = ({ measure }: Workload): boolean => measure.is === 'handOver' || measure.is === 'notifications'

/** The nodes on the server and on the mock. */
export const paths = {
  data: '/zkwire-throughput/data',
  list: '/zkwire-throughput/list',
  watched: '/zkwire-throughput/watched',
  /** The directory of each task on the mock, whose replies are prepared. */
  mock: '/zkwire-throughput/mock',
} as const

export const DATA_BYTES = 100
export const NAMES = 1000
/** Returns a name of 17 bytes, as long as the names of a lock's nodes if the lock's own name is short. */
export const nameOf = (index: number): string => `member-${String(index).padStart(10, '0')}`

/** The message to a measuring process. */
export interface Task {
  subject: SubjectName
  measure: Measure
  port: number
  /** An empty persistent node for this task. */
  directory: string
  /** Length of the warm-up, ms. */
  warmUp: number
  /** Length of the measurement, ms. */
  span: number
  /** File URL of the built client. */
  dist: string
  /** File URL from which the other clients can be required. */
  peers: string
}
