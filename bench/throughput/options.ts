// The command line of `npm run bench -- throughput`.
import { pathToFileURL } from 'node:url'
import { UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { subjects, workloads, type SubjectName, type Workload } from './workloads.ts'

export interface Options {
  rounds: number
  /** Rounds of the subjects that no target compares with. Such subjects only appear in the table. */
  peerRounds: number
  workloads: Workload[]
  subjects: SubjectName[]
  /** Length of the warm-up, ms. */
  warmUp: number
  /** Length of each measurement, ms. */
  span: number
  json: URL
  /** Options of node for the measuring processes. */
  execArgv: string[]
}

export const help = `npm run bench -- throughput [options]

Compares the cost of a call in this client with a raw socket that sends prepared frames,
npm node-zookeeper-client, npm zookeeper and, for a lock, Curator. Measures them in turns.
Starts the two servers for that: an Apache ZooKeeper, and a mock server.
See bench/README.md.

  --rounds N               measurements of each subject and workload (9)
  --peer-rounds N          the same for subjects that no target compares with (3)
  --only TEXT              only workloads whose names contain TEXT
  --subjects NAME,...      only some of the subjects: ${subjects.join(', ')}
  --warm-up MS             warm-up before each measurement, ms (500)
  --span MS                length of each measurement, ms (1000)
  --node-option OPTION     pass OPTION to node in the measuring processes, for example
                           --node-option=--cpu-prof
  --json FILE              write the raw figures to FILE (bench/results/throughput.json)
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid */
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
      `no workload has a name that contains ${JSON.stringify(only)}. The workloads are: ${workloads.map(({ name }) => name).join('; ')}`,
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
  if (found === undefined)
    throw new UsageError(`--subjects: ${JSON.stringify(name)} is not one of ${subjects.join(', ')}`)
  return found
}
