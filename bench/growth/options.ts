// The command line of `npm run bench -- growth`.
import { fileURLToPath } from 'node:url'
import { UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { workloads, populations } from './workloads.ts'
import type { Plan } from './run.ts'
import { nameOf } from './table.ts'

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
  --only TEXT              only curves whose names contain TEXT; each name starts with one of
                           ${populations.map(({ name }) => name).join(', ')}
  --most N                 skip sizes above N (sizes of frames are in bytes)
  --rounds N               measurements of each curve and size (${FULL.rounds}; with --quick ${QUICK.rounds})
  --warm-up MS             processor time of the warm-up, ms (${FULL.warmUp}; with --quick ${QUICK.warmUp})
  --span MS                processor time of each measurement, ms (${FULL.span}; with --quick ${QUICK.span})
  --node-option OPTION     pass OPTION to node in the worker processes, for example
                           --node-option=--cpu-prof
  --json FILE              write the figures to FILE (bench/results/growth.json)
  --report FILE            write the plots to FILE (bench/results/growth.html)
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const values = valuesOf({
    args: [...args],
    options: {
      ...{ only: text, most: text, rounds: text, 'warm-up': text, span: text, json: text, report: text },
      ...{ 'node-option': { type: 'string', multiple: true }, quick: { type: 'boolean' }, help: { type: 'boolean' } },
    },
  })
  if (values.help === true) return 'help'
  const { only = '', quick = false } = values
  const chosen = workloads.filter(workload => nameOf(workload).includes(only))
  if (chosen.length === 0) throw new UsageError(`no curve has a name that contains ${JSON.stringify(only)}`)
  const defaults = quick ? QUICK : FULL
  const most = values.most === undefined ? Infinity : wholeNumber('most', values.most)
  return {
    workloads: chosen,
    sizesOf: population => (quick ? population.quick : population.sizes).filter(size => size <= most),
    rounds: wholeNumber('rounds', values.rounds ?? `${defaults.rounds}`),
    warmUp: wholeNumber('warm-up', values['warm-up'] ?? `${defaults.warmUp}`),
    span: wholeNumber('span', values.span ?? `${defaults.span}`),
    execArgv: values['node-option'] ?? [],
    json: values.json ?? results('growth.json'),
    report: values.report ?? results('growth.html'),
  }
}
