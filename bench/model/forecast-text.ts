// What locks would cost with the reader's own numbers, as text. Pure.
import { relative } from 'node:path'
import { nameOf } from '../harness/server.ts'
import { amount, duration, list, whole } from '../output/figures.ts'
import type { Result } from '../output/result.ts'
import { adviceOf, type Advice } from './advice.ts'
import { phaseForecast } from './forecast.ts'
import { heldOutOf, TOLERANCE, isClose, type HeldOut } from './held-out.ts'
import { modelOf } from './model.ts'
import type { ForecastOptions } from './options.ts'
import type { PhaseModel } from './terms.ts'

/** Returns a paragraph for each number of contenders, and what the model was fitted to. */
export function forecastText(result: Result, { result: file, sizes, ...conditions }: ForecastOptions): string {
  const model = modelOf(result)
  const name = relative('.', file)
  const locks = model.phases.filter(({ kind }) => kind === 'lock')
  const fitted = locks.length > 0 ? locks : model.phases
  if (fitted.length === 0) throw new Error(`${name} contains nothing that was measured with enough sizes`)
  const largest = Math.max(...fitted.flatMap(phase => phase.sizes))
  const asked = sizes ?? [10 * largest]
  const advice = asked.map(size => adviceOf(model, size, conditions))
  const hasLocks = advice.some(({ sentences }) => sentences.length > 0)
  const paragraphs = hasLocks ? advice : asked.map(size => costsOf(fitted, size))
  return [
    ...(hasLocks ? [] : [`No lock was timed and recorded at enough sizes, so none can be recommended.`]),
    ...paragraphs.map(({ heading, sentences }) => [heading, ...sentences.map(each => `- ${each}`)].join('\n')),
    [
      `Forecast from ${name}: ${nameOf({ servers: '', ...result.server })}, up to ${whole(largest)} ${hasLocks ? 'contenders' : 'sessions'}, on ${result.machine.cores} cores of ${result.machine.cpu}.`,
      ...heldOutSentences(heldOutOf(result)),
      'How the model is made: bench/README.md, "Forecasts".',
    ].join('\n'),
  ].join('\n\n')
}

/** Says what each phase costs, of which no lock can be recommended. */
function costsOf(phases: readonly PhaseModel[], size: number): Advice {
  const sentences = phases.map(model => {
    const { counts, server } = phaseForecast(model, size)
    const moved = amount(counts.bytesReceived + counts.bytesSent)
    const work = server === undefined ? '' : `, and costs the server ${duration(server.value)} of processor time`
    return `${model.scenario}, ${model.phase}: notifies ${whole(counts.notifications)}, moves ${moved}${work}.`
  })
  return { heading: `With ${whole(size)} sessions:`, sentences }
}

/** Says how well the model forecast the largest sizes of the run. */
export function heldOutSentences(figures: readonly HeldOut[]): string[] {
  if (figures.length === 0) return []
  const off = figures.filter(each => !isClose(each))
  const share = `${figures.length - off.length} of ${figures.length}`
  const names = [...new Set(off.map(({ scenario, size, what }) => `${scenario} ${size} (${what})`))]
  const sizes = [...new Set(figures.map(({ size }) => whole(size)))]
  const farther = off.length === 0 ? '' : ` Farther off: ${names.join(', ')}.`
  return [
    `Of the figures with ${list(sizes)} sessions, which were forecast from a tenth of them and less, ${share} are at most ${Math.round(100 * TOLERANCE)} % off.${farther}`,
  ]
}
