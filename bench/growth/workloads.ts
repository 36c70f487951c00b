// What is measured, and at which sizes. Pure data, shared by the harness and the processes that it starts.

/** What there is much of, in a process of its own for each workload and size. */
export type PopulationName = 'calls' | 'young' | 'watches' | 'removed' | 'lives' | 'sessions' | 'frames' | 'names'

export interface Population {
  name: PopulationName
  /** What the sizes count. */
  label: string
  sizes: readonly number[]
  /** What `--quick` makes of them. */
  quick: readonly number[]
  /** Options of node. */
  execArgv?: readonly string[]
}

export interface Workload {
  population: PopulationName
  /** One of the probes of that crowd. */
  probe: string
  /** What one operation is, for a reader. */
  about: string
  /** Of what an operation costs. */
  unit: 'us' | 'bytes'
  /** Below that size, what a process has once weighs more than what it has many of. */
  from?: number
  /** The probe of what no client can do without, measured at the same sizes: what grows with that is not the client's. */
  baseline?: 'promise'
}

/** Calls under way outlive V8's young generation as it is by default, and each is then moved twice: here all have room in it. */
const ROOMY = ['--min-semi-space-size=256', '--max-semi-space-size=256']

const someCalls = { sizes: [1000, 3000, 10_000, 30_000, 100_000], quick: [1000, 10_000] } as const

export const populations: readonly Population[] = [
  { ...{ name: 'calls', label: 'calls under way' }, ...someCalls, execArgv: ROOMY },
  { ...{ name: 'young', label: "calls under way, with Node's own young generation" }, ...someCalls },
  {
    ...{ name: 'watches', label: 'watches registered' },
    sizes: [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    quick: [1000, 10_000, 100_000],
  },
  {
    ...{ name: 'removed', label: 'watches registered, and removed again' },
    sizes: [1000, 10_000, 100_000, 1_000_000],
    quick: [1000, 10_000],
  },
  {
    ...{ name: 'lives', label: 'watches set in one session, and ended with it' },
    sizes: [10_000, 30_000, 100_000, 300_000, 1_000_000],
    quick: [1000, 10_000],
  },
  {
    ...{ name: 'sessions', label: 'sessions in a process' },
    sizes: [100, 300, 1000, 3000, 10_000],
    quick: [100, 300, 1000],
  },
  {
    ...{ name: 'frames', label: 'bytes of data in a frame' },
    sizes: [16_384, 65_536, 262_144, 1_048_576, 4_194_304, 8_388_608],
    quick: [16_384, 262_144, 1_048_576],
  },
  {
    ...{ name: 'names', label: 'names in a list' },
    sizes: [300, 1000, 3000, 10_000, 30_000, 100_000],
    quick: [300, 3000],
  },
]

const us = (population: PopulationName, probe: string, about: string): Workload => ({
  population,
  probe,
  about,
  unit: 'us',
})
const bytes = (population: PopulationName, probe: string, about: string): Workload => ({
  population,
  probe,
  about,
  unit: 'bytes',
})

export const workloads: readonly Workload[] = [
  { ...us('calls', 'getData', 'one of so many under way'), baseline: 'promise' },
  { ...us('calls', 'one signal', 'the same, with one abort signal over all of them'), baseline: 'promise' },
  us('calls', 'queued', 'a call that waits for a connection with so many others'),
  us('calls', 'lost', 'a call that fails with its connection, with so many others'),
  { ...us('young', 'getData', 'one of so many under way'), baseline: 'promise' },
  us('watches', 'told', 'one more is set, its node is changed, it is told'),
  us('watches', 'given up', 'one more is set, and given up by its signal'),
  us('watches', 'removeWatches', 'one more is set, and removed'),
  us('watches', 'view', 'a view of the client sets one more, and is closed'),
  us('watches', 'watcher', 'a persistent one is added, and closed'),
  { ...us('watches', 'reconnect', 'one of so many is set again on a new connection'), from: 10_000 },
  { ...bytes('watches', 'memory', 'live heap of one of so many'), from: 10_000 },
  us('removed', 'told', 'one is set, its node is changed, it is told'),
  us('lives', 'life', 'one of so many is set, and told the end of the session'),
  us('sessions', 'getData', 'of the next session, a hundred at a time'),
  us('sessions', 'opened', 'one more is opened, and closed'),
  { ...bytes('sessions', 'memory', 'live heap of one of so many'), from: 1000 },
  us('frames', 'getData', 'a kilobyte of it'),
  us('frames', 'setData', 'a kilobyte of it'),
  us('names', 'getChildren', 'a name of it'),
]

export function populationOf({ population }: Workload): Population {
  const found = populations.find(({ name }) => name === population)
  if (found === undefined) throw new Error(`there is no population ${population}`)
  return found
}

/** What a measuring process is told first. */
export interface Task {
  population: PopulationName
  size: number
  /** Connect strings: of a server that answers at once from what lies ready, and of the embedded one. */
  mock: string
  server: string
  /** An empty node of its own there. */
  directory: string
}

/** What it is told from then on, and answers with a {@link Sample}. */
export interface MeasureRequest {
  probe: string
  /** Milliseconds of processor time, at least. */
  span: number
}

export interface Sample {
  operations: number
  /** Of all of them: microseconds of processor time of the whole process, or bytes. */
  cost: number
}
