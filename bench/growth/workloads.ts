// The curves and their sizes. Pure data, shared by the main process and the measuring processes.

/** The kind of item that a process has many of. Each curve and size has its own process. */
export type PopulationName = 'calls' | 'young' | 'watches' | 'removed' | 'lives' | 'sessions' | 'frames' | 'names'

export interface Population {
  name: PopulationName
  /** The unit of the sizes, for a reader. */
  label: string
  sizes: readonly number[]
  /** The sizes with `--quick`. */
  quick: readonly number[]
  /** Options of node for the process. */
  execArgv?: readonly string[]
}

export interface Workload {
  /** The population and the probe. */
  name: string
  population: PopulationName
  /** The name of a probe of that population. */
  probe: string
  /** Describes one operation, for a reader. */
  about: string
  /** The unit of the cost of an operation. */
  unit: 'us' | 'bytes'
  /** The smallest size to measure. At smaller sizes the fixed costs of a process dominate. */
  from?: number
  /** A probe of the minimum that any client needs, at the same sizes. The cost is judged relative to it. */
  baseline?: 'promise'
}

/**
 * Makes V8's young generation large enough for all calls in flight. In the default one, calls in flight survive
 * collections, and V8 moves each one twice.
 */
const LARGE_YOUNG_GENERATION = ['--min-semi-space-size=256', '--max-semi-space-size=256']

const someCalls = { sizes: [1000, 3000, 10_000, 30_000, 100_000], quick: [1000, 10_000] } as const

export const populations: readonly Population[] = [
  { ...{ name: 'calls', label: 'calls in flight' }, ...someCalls, execArgv: LARGE_YOUNG_GENERATION },
  { ...{ name: 'young', label: "calls in flight, with Node's default young generation" }, ...someCalls },
  {
    ...{ name: 'watches', label: 'watches registered' },
    sizes: [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    quick: [1000, 10_000, 100_000],
  },
  {
    ...{ name: 'removed', label: 'watches registered and removed again' },
    sizes: [1000, 10_000, 100_000, 1_000_000],
    quick: [1000, 10_000],
  },
  {
    ...{ name: 'lives', label: 'watches registered until the session ends' },
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
  ...{ name: `${population}, ${probe}`, population, probe, about, unit: 'us' },
})
const bytes = (population: PopulationName): Workload => ({
  ...us(population, 'memory', 'live heap of one of them'),
  unit: 'bytes',
})

export const workloads: readonly Workload[] = [
  { ...us('calls', 'getData', 'one of the calls in flight'), baseline: 'promise' },
  { ...us('calls', 'one signal', 'the same, with one abort signal for all of them'), baseline: 'promise' },
  us('calls', 'queued', 'one of the calls that wait for a connection'),
  us('calls', 'disconnected', 'one of the calls that fail with their connection'),
  { ...us('young', 'getData', 'one of the calls in flight'), baseline: 'promise' },
  us('watches', 'notified', 'set one more, change its node, get the event'),
  us('watches', 'aborted', 'set one more, and abort its signal'),
  us('watches', 'removeWatches', 'set one more, and remove it'),
  us('watches', 'view', 'set one more through a view of the client, and close the view'),
  us('watches', 'watcher', 'add a persistent watch, and close it'),
  { ...us('watches', 'reconnect', 'set one of the watches again after a reconnect'), from: 10_000 },
  { ...bytes('watches'), from: 10_000 },
  us('removed', 'notified', 'set one, change its node, get the event'),
  us('lives', 'life', 'set one of them, and get the end of the session'),
  us('sessions', 'getData', 'a call of the next session, a hundred at a time'),
  us('sessions', 'opened', 'open one more, and close it'),
  { ...bytes('sessions'), from: 1000 },
  us('frames', 'getData', 'one kilobyte of the frame'),
  us('frames', 'setData', 'one kilobyte of the frame'),
  us('names', 'getChildren', 'one name of the list'),
]

export function populationOf({ population }: Workload): Population {
  const found = populations.find(({ name }) => name === population)
  if (found === undefined) throw new Error(`there is no population ${population}`)
  return found
}

/** The message to a measuring process. */
export interface Task {
  workload: Workload
  size: number
  /** The connect string of a mock, which answers at once with prepared replies. */
  mock: string
  /** The connect string of the embedded server. */
  server: string
  /** An empty node for this process on the embedded server. */
  directory: string
  /** Length of the warm-up, ms of processor time. */
  warmUp: number
  /** Length of each measurement, ms of processor time. */
  span: number
}
