// `npm start -- --predict`: prints what locks would cost with the reader's own numbers. Measures nothing.
import { relative } from 'node:path'
import { nameOf } from '../harness/server.ts'
import { list, whole } from '../output/figures.ts'
import { readResult, type Result } from '../output/result.ts'
import { adviceOf } from './advice.ts'
import { heldOutOf, TOLERANCE, isClose, type HeldOut } from './held-out.ts'
import { modelOf } from './model.ts'
import { parsePredictOptions, type PredictOptions } from './options.ts'

/** @throws UsageError if an option is wrong, or Error if the file is not a result */
export async function predict(args: readonly string[]): Promise<string> {
  const options = parsePredictOptions(args)
  return predictionOf(await readResult(options.result), options)
}

/** Returns a paragraph for each number of contenders, and what the model was fitted to. Pure. */
export function predictionOf(result: Result, { result: file, sizes, ...conditions }: PredictOptions): string {
  // Fitted again, because results of older versions contain no model, or one that was fitted in another way.
  const model = modelOf(result)
  const largest = Math.max(...model.phases.filter(({ kind }) => kind === 'lock').flatMap(phase => phase.sizes))
  const advice = (sizes ?? [10 * largest]).map(size => adviceOf(model, size, conditions))
  if (advice.every(({ sentences }) => sentences.length === 0))
    throw new Error(`${file} contains no lock that was measured with enough sizes, timed and recorded`)
  const paragraphs = advice.map(({ heading, sentences }) => [heading, ...sentences.map(each => `- ${each}`)].join('\n'))
  const name = relative('.', file)
  return [
    ...paragraphs,
    [
      `Foretold from ${name}: ${nameOf({ servers: '', ...result.server })}, up to ${whole(largest)} contenders, on ${result.machine.cores} cores of ${result.machine.cpu}.`,
      ...heldOutSentences(heldOutOf(result)),
      'How the model is made: bench/README.md, "Foretelling".',
    ].join('\n'),
  ].join('\n\n')
}

/** Says how well the model foretold the largest sizes of the run. */
export function heldOutSentences(figures: readonly HeldOut[]): string[] {
  if (figures.length === 0) return []
  const off = figures.filter(each => !isClose(each))
  const share = `${figures.length - off.length} of ${figures.length}`
  const names = [...new Set(off.map(({ scenario, size, what }) => `${scenario} ${size} (${what})`))]
  const sizes = [...new Set(figures.map(({ size }) => whole(size)))]
  const farther = off.length === 0 ? '' : ` Farther off: ${names.join(', ')}.`
  return [
    `Of the figures with ${list(sizes)} sessions, which were foretold from a tenth of them and less, ${share} are at most ${Math.round(100 * TOLERANCE)} % off.${farther}`,
  ]
}
