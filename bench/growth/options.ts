// The command line of `npm run bench -- growth`.
import { fileURLToPath } from 'node:url'
import { valuesOf, wholeNumber } from '../output/usage.ts'
import { roundsHelp, roundsOf, roundsOptions } from '../processes/options.ts'
import { workloads, populations } from './workloads.ts'
import type { Plan } from './run.ts'

export interface Options extends Plan {
  json: string
  report: string
}

const FULL = { rounds: 7, warmUp: 600, span: 150 }
const QUICK = { rounds: 5, warmUp: 150, span: 40 }
const results = (name: string) => fileURLToPath(new URL(`../results/${name}`, import.meta.url))

export const help = `npm run bench -- growth [options]

Measures whether the cost of an operation stays the same as the number of calls in flight,
registered watches and open sessions grows, and as frames get larger. Prints a verdict for
each curve, plots the curves, and exits with 1 if one is not flat. See bench/README.md.

  --quick                  small sizes: a trial run of less than a minute
  --most N                 skip sizes above N (sizes of frames are in bytes)
  --json FILE              write the figures to FILE (bench/results/growth.json)
  --report FILE            write the plots to FILE (bench/results/growth.html)
${roundsHelp({
  rounds: `${FULL.rounds}; with --quick ${QUICK.rounds}`,
  warmUp: `${FULL.warmUp} of processor time; with --quick ${QUICK.warmUp}`,
  span: `${FULL.span} of processor time; with --quick ${QUICK.span}`,
})}
Each name starts with one of ${populations.map(({ name }) => name).join(', ')}.
`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const options = { ...roundsOptions, most: text, json: text, report: text, quick: { type: 'boolean' } } as const
  const values = valuesOf({ args: [...args], options })
  if (values.help === true) return 'help'
  const { quick = false } = values
  const most = values.most === undefined ? Infinity : wholeNumber('most', values.most)
  return {
    ...roundsOf(values, workloads, quick ? QUICK : FULL),
    sizesOf: population => (quick ? population.quick : population.sizes).filter(size => size <= most),
    json: values.json ?? results('growth.json'),
    report: values.report ?? results('growth.html'),
  }
}
