// The command line of `npm run bench:throughput`.
import { pathToFileURL } from 'node:url'
import { UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { subjects, workloads, type SubjectName, type Workload } from './workloads.ts'

export interface Options {
  rounds: number
  /** Of those whom no target is set by: they stand in the table only. */
  peerRounds: number
  workloads: Workload[]
  subjects: SubjectName[]
  /** Milliseconds of warming up, and of measuring. */
  warmUp: number
  span: number
  json: URL
  /** For node, of the measuring processes. */
  execArgv: string[]
}

export const help = `npm run bench:throughput -- [options]

Measures this client, a raw socket that replays frames, npm node-zookeeper-client, npm zookeeper
and (one lock) Curator, in turns, on an Apache ZooKeeper and a mock that are started for it.

  --rounds N               how often each is measured (9)
  --peer-rounds N          and those whom no target is set by (3)
  --only TEXT              the workloads whose names hold this
  --subjects NAME,...   ${subjects.join(', ')}
  --warm-up MS             of each measurement (500)
  --span MS                of each measurement (1000)
  --node-option OPTION     for the measuring processes: --node-option=--cpu-prof
  --json FILE              where the raw figures go (bench/results/throughput.json)
  --help                   this
`

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const values = valuesOf({
    args: [...args],
    options: {
      ...{ rounds: text, 'peer-rounds': text, only: text, subjects: text, 'warm-up': text, span: text, json: text },
      ...{ 'node-option': { type: 'string', multiple: true }, help: { type: 'boolean' } },
    },
  })
  if (values.help === true) return 'help'
  const { only = '', subjects: names = subjects.join(',') } = values
  const chosen = workloads.filter(({ name }) => name.includes(only))
  if (chosen.length === 0)
    throw new UsageError(
      `no workload is called like ${JSON.stringify(only)}: there are ${workloads.map(({ name }) => name).join('; ')}`,
    )
  return {
    rounds: wholeNumber('rounds', values.rounds ?? '9'),
    peerRounds: wholeNumber('peer-rounds', values['peer-rounds'] ?? '3'),
    workloads: chosen,
    subjects: names.split(',').map(subjectOf),
    warmUp: wholeNumber('warm-up', values['warm-up'] ?? '500'),
    span: wholeNumber('span', values.span ?? '1000'),
    json:
      values.json === undefined ? new URL('../results/throughput.json', import.meta.url) : pathToFileURL(values.json),
    execArgv: values['node-option'] ?? [],
  }
}

function subjectOf(name: string): SubjectName {
  const found = subjects.find(each => each === name)
  if (found === undefined) throw new UsageError(`--subjects: ${JSON.stringify(name)} is none of ${subjects.join(', ')}`)
  return found
}
