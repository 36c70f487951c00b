// The command line of `npm run bench:growth`.
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

export const help = `npm run bench:growth -- [options]

Measures whether the cost of an operation stays the same however many calls are under way,
watches are registered, sessions are open, and however large a frame is. Says so of each
workload, draws them, and exits with 1 where one is not flat. bench/README.md tells how.

  --quick                  small sizes, in less than a minute: to see that it runs
  --only TEXT              the workloads whose names hold this: ${populations.map(({ name }) => name).join(', ')}
  --most N                 leaves out what is larger than N, frames too
  --rounds N               how often each is measured (${FULL.rounds})
  --warm-up MS             of processor time, of each (${FULL.warmUp})
  --span MS                of each measurement (${FULL.span})
  --node-option OPTION     for the measuring processes: --node-option=--cpu-prof
  --json FILE              where the figures go (bench/results/growth.json)
  --report FILE            where the page with the plots goes (bench/results/growth.html)
  --help                   this
`

/** @throws UsageError */
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
  if (chosen.length === 0) throw new UsageError(`no workload is called like ${JSON.stringify(only)}`)
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
