// Fits a model with few, named parts to a result, and forecasts the costs at other sizes: what a phase moves, what it
// costs the server and the clients, and how long both wait. This file: the model and its fit. Pure.
// May import: bench/measure, bench/output.
import { mean, student95, sum } from '../measure/statistics.ts'
import { roundTripsOf } from '../measure/round-trips.ts'
import type { Recording } from '../measure/recording.ts'
import type { Growth, PhaseSummary, Summary } from '../measure/summary.ts'
import { factorOf, fit, termsOfFit, type Estimate, type Fit } from './least-squares.ts'
import {
  COUNTS,
  powersOf,
  termValues,
  type CountName,
  type Costs,
  type Model,
  type PhaseModel,
  type Term,
} from './terms.ts'

/** The parts of a result that the model is fitted to. */
export interface Measured {
  cells: readonly Summary[]
  growth: readonly Growth[]
  scenarios: readonly { name: string; kind: string }[]
  recordings: readonly Recording[]
  /** The machine that client and server share. */
  machine: { cores: number }
}

/** Returns the phases of which enough sizes were measured. `isFitted` chooses the sizes. */
export function modelOf(measured: Measured, isFitted: (size: number) => boolean = () => true): Model {
  const phases = measured.growth.flatMap(growth => {
    const cells = measured.cells
      .filter(({ scenario, size }) => scenario === growth.scenario && isFitted(size))
      .toSorted((a, b) => a.size - b.size)
    return phaseModelsOf(cells, growth, measured)
  })
  return { phases, cores: measured.machine.cores, roundTrip: roundTripOf(phases), lineRate: lineRateOf(phases) }
}

type Row = PhaseSummary & { size: number; isTimed: boolean }

/** The measurements of one phase, and the terms of its costs. */
interface Samples {
  name: string
  rows: Row[]
  counts: Record<CountName, Fit>
  lists: boolean
  terms: Term[]
}

function phaseModelsOf(
  cells: readonly Summary[],
  { scenario, phase: plotted, theory }: Growth,
  { scenarios, recordings, machine }: Measured,
): PhaseModel[] {
  const kind = scenarios.find(each => each.name === scenario)?.kind ?? ''
  const samples = (cells[0]?.phases ?? []).flatMap(({ phase: name }): Samples[] => {
    const rows = cells.flatMap(({ size, phases, asExpected }): Row[] => {
      const phase = phases.find(each => each.phase === name)
      // A phase that was only counted was fenced, so its times include the fences.
      return phase === undefined ? [] : [{ ...phase, size, isTimed: asExpected !== undefined }]
    })
    const counts = countsOf(rows, Math.max(theory.notifications, theory.bytes))
    if (counts === undefined) return []
    const lists = kind === 'lock' && theory.bytes > theory.notifications && grows(rows, 'bytesReceived')
    return [{ name, rows, counts, lists, terms: termsOf(rows, kind, lists) }]
  })
  const server = costsOf(samples, ({ serverCpuMs }) => serverCpuMs)
  const client = costsOf(samples, ({ clientCpuMs }) => clientCpuMs)
  const wait = costsOf(samples, ({ ms, clientCpuMs, serverCpuMs = 0 }) =>
    Math.max(0, ms - (clientCpuMs + serverCpuMs) / machine.cores),
  )
  return samples.map(({ name, rows, counts, lists }, i): PhaseModel => {
    const recording = recordings.find(each => each.scenario === scenario && each.phase === name)
    return {
      ...{ scenario, kind, phase: name, sizes: rows.map(({ size }) => size), counts, lists },
      roundTrips: name === plotted && recording !== undefined ? roundTripsOf(recording) : undefined,
      ...{ server: server?.[i], client: client?.[i], wait: wait?.[i] },
    }
  })
}

function countsOf(rows: readonly Row[], degree: number): Record<CountName, Fit> | undefined {
  const powers = rows.map(({ size }) => powersOf(size, degree))
  const fits = COUNTS.map(name => {
    const values = rows.map(({ counts }) => counts[name].median)
    return [name, fit(powers, values, { nonNegative: false })] as const
  })
  return fits.some(([, found]) => found === undefined)
    ? undefined
    : (Object.fromEntries(fits) as Record<CountName, Fit>)
}

const grows = (rows: readonly Row[], name: CountName): boolean =>
  (rows.at(-1)?.counts[name].median ?? 0) > 1.1 * (rows[0]?.counts[name].median ?? 0)

/** A term that is proportional to another one is left out, because its factor could not be told apart. */
function termsOf(rows: readonly Row[], kind: string, lists: boolean): Term[] {
  if (kind === 'session') return ['phase', 'session']
  return [
    'phase',
    ...(grows(rows, 'notifications') ? (['notification'] as const) : []),
    ...(lists ? (['byte'] as const) : []),
  ]
}

/**
 * Fits the phases of a scenario together: each has a constant cost of its own, and they share the costs of the other
 * terms. Returns undefined if the cost is unknown, or cannot be fitted.
 */
function costsOf(samples: readonly Samples[], of: (row: Row) => number | undefined): Costs[] | undefined {
  const shared = [...new Set(samples.flatMap(({ terms }) => terms.slice(1)))]
  const rows = samples.flatMap(({ rows }, phase) =>
    rows.filter(({ isTimed }) => isTimed).map(row => ({ row, phase, value: of(row) })),
  )
  if (rows.some(({ value }) => value === undefined)) return undefined
  const table = rows.map(({ row: { size, counts }, phase }) => {
    const read = { notifications: counts.notifications.median, bytesReceived: counts.bytesReceived.median }
    const own = samples[phase]?.terms ?? []
    return [
      ...samples.map((_, i) => (i === phase ? 1 : 0)),
      ...termValues(shared, size, read).map((value, i) => (own.includes(shared[i] ?? 'phase') ? value : 0)),
    ]
  })
  const found = fit(
    table,
    rows.map(({ value = 0 }) => value),
    { nonNegative: true },
  )
  return found && samples.map(({ terms }, i) => ({ terms, ...termsOfFit(found, [i, ...indexesOf(terms)]) }))

  function indexesOf(terms: readonly Term[]): number[] {
    return terms.slice(1).map(term => samples.length + shared.indexOf(term))
  }
}

/** Returns the mean of the locks' constant waits, each divided by its round trips. */
function roundTripOf(phases: readonly PhaseModel[]): Estimate | undefined {
  const trips = phases.flatMap(({ wait, roundTrips }) =>
    wait === undefined || roundTrips === undefined ? [] : [(wait.factors[0] ?? NaN) / roundTrips],
  )
  if (trips.length === 0) return undefined
  const value = mean(trips)
  if (trips.length === 1) return { value, low: undefined, high: undefined }
  const variance = sum(trips.map(trip => (trip - value) ** 2)) / (trips.length - 1)
  const half = student95(trips.length - 1) * Math.sqrt(variance / trips.length)
  return { value, low: value - half, high: value + half }
}

const BITS_PER_BYTE = 8

/** Returns the rate of the phase that moved the most bytes. */
function lineRateOf(phases: readonly PhaseModel[]): Estimate | undefined {
  const most = (phase: PhaseModel) => phase.counts.bytesReceived.factors.at(-1) ?? 0
  const degree = (phase: PhaseModel) => phase.counts.bytesReceived.factors.length
  const [phase] = phases
    .filter(({ wait }) => wait?.terms.includes('byte'))
    .toSorted((a, b) => degree(b) - degree(a) || most(b) - most(a))
  if (phase?.wait === undefined) return undefined
  const { value, low, high } = factorOf(phase.wait, phase.wait.terms.indexOf('byte'))
  const rate = (msPerByte: number | undefined) =>
    msPerByte === undefined || msPerByte <= 0 ? undefined : (1000 * BITS_PER_BYTE) / msPerByte
  const rated = rate(value)
  return rated === undefined ? undefined : { value: rated, low: rate(high), high: rate(low) }
}
