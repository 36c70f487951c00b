// Forecasts the largest size of a run from the sizes up to a tenth of it, and puts the measured figures beside. Pure.
import { durationHere, phaseForecast } from './forecast.ts'
import type { Estimate } from './least-squares.ts'
import { modelOf, type Measured } from './model.ts'
import type { PhaseModel } from './terms.ts'
import type { PhaseSummary } from '../measure/summary.ts'
import { list, whole } from '../output/figures.ts'

/** A figure of the largest size, as forecast from the smaller ones. */
export interface HeldOut {
  scenario: string
  phase: string
  /** The sizes from which it was forecast. */
  sizes: number[]
  size: number
  what: 'notifications' | 'frames' | 'bytes read' | 'server CPU, ms' | 'client CPU, ms' | 'duration, ms'
  forecast: Estimate
  measured: number
}

const TIMES = 10
/** Fewer sizes than this say nothing about another one. */
const LEAST_SIZES = 3
/** A forecast figure that is further off than this is named. */
export const TOLERANCE = 0.25

/** Returns nothing for scenarios that were not measured with at least three sizes up to a tenth of their largest one. */
export function heldOutOf(measured: Measured): HeldOut[] {
  const largest = new Map<string, number>()
  for (const { scenario, size } of measured.cells) largest.set(scenario, Math.max(size, largest.get(scenario) ?? 0))
  return [...new Set(largest.values())].flatMap(size => {
    const model = modelOf(measured, each => each <= size / TIMES)
    return model.phases.flatMap(phase => {
      const cell = measured.cells.find(each => each.scenario === phase.scenario && each.size === size)
      const summary = cell?.phases.find(each => each.phase === phase.phase)
      if (largest.get(phase.scenario) !== size || summary === undefined || phase.sizes.length < LEAST_SIZES) return []
      const about = { scenario: phase.scenario, phase: phase.phase, sizes: phase.sizes, size }
      const duration = cell?.asExpected === undefined ? undefined : durationHere(model, phase, size)
      return figuresOf(phase, summary, size, duration).map(figure => ({ ...about, ...figure }))
    })
  })
}

type Figure = Pick<HeldOut, 'what' | 'forecast' | 'measured'>

function figuresOf(model: PhaseModel, summary: PhaseSummary, size: number, duration: Estimate | undefined): Figure[] {
  const { counts, server, client } = phaseForecast(model, size)
  const exact = (value: number): Estimate => ({ value, low: undefined, high: undefined })
  const { notifications, framesSent, framesReceived, bytesReceived } = summary.counts
  const isTimed = duration !== undefined
  const all: [HeldOut['what'], Estimate | undefined, number | undefined][] = [
    ['notifications', exact(counts.notifications), notifications.median],
    ['frames', exact(counts.framesSent + counts.framesReceived), framesSent.median + framesReceived.median],
    ['bytes read', exact(counts.bytesReceived), bytesReceived.median],
    ['server CPU, ms', isTimed ? server : undefined, summary.serverCpuMs],
    ['client CPU, ms', isTimed ? client : undefined, summary.clientCpuMs],
    ['duration, ms', duration, summary.ms],
  ]
  // The server's processor time is counted in ticks of 10 ms, so few short steps may have none.
  return all.flatMap(([what, forecast, measured = 0]) =>
    forecast === undefined || measured === 0 ? [] : [{ what, forecast, measured }],
  )
}

/** Returns how far a forecast figure is off, as a share of the measured one: 0.1 is 10 % too much. */
export const errorOf = ({ forecast, measured }: HeldOut): number => forecast.value / measured - 1

export const isClose = (figure: HeldOut): boolean => Math.abs(errorOf(figure)) <= TOLERANCE

/** Says how well the model forecast the largest sizes of the run. */
export function heldOutSentence(figures: readonly HeldOut[]): string {
  const off = figures.filter(each => !isClose(each))
  const share = `${figures.length - off.length} of ${figures.length}`
  const names = [...new Set(off.map(({ scenario, size, what }) => `${scenario} ${size} (${what})`))]
  const sizes = [...new Set(figures.map(({ size }) => whole(size)))]
  const farther = off.length === 0 ? '' : ` Farther off: ${names.join(', ')}.`
  return `Of the figures with ${list(sizes)} sessions, which were forecast from a tenth of them and less, ${share} are at most ${Math.round(100 * TOLERANCE)} % off.${farther}`
}
