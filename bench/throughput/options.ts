// The command line of `npm run bench -- throughput`.
import { fileURLToPath } from 'node:url'
import { UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { roundsHelp, roundsOf, roundsOptions, type Rounds } from '../processes/options.ts'
import { subjects, workloads, type SubjectName, type Workload } from './workloads.ts'

export interface Options extends Rounds<Workload> {
  /** Rounds of the subjects that no target compares with. Such subjects only appear in the table. */
  peerRounds: number
  subjects: SubjectName[]
  json: string
}

const DEFAULTS = { rounds: 9, warmUp: 500, span: 1000 }

export const help = `npm run bench -- throughput [options]

Compares the cost of a call in this client with a raw socket that sends prepared frames,
npm node-zookeeper-client, npm zookeeper and, for a lock, Curator. Measures them in turns.
Starts the two servers for that: an Apache ZooKeeper, and a mock server.
See bench/README.md.

  --peer-rounds N          rounds of subjects that no target compares with (3)
  --subjects NAME,...      only some of the subjects: ${subjects.join(', ')}
  --json FILE              write the raw figures to FILE (bench/results/throughput.json)
${roundsHelp(DEFAULTS)}`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const options = { ...roundsOptions, 'peer-rounds': text, subjects: text, json: text }
  const values = valuesOf({ args: [...args], options })
  if (values.help === true) return 'help'
  return {
    ...roundsOf(values, workloads, DEFAULTS),
    peerRounds: wholeNumber('peer-rounds', values['peer-rounds'] ?? '3'),
    subjects: values.subjects?.split(',').map(subjectOf) ?? [...subjects],
    json: values.json ?? fileURLToPath(new URL('../results/throughput.json', import.meta.url)),
  }
}

function subjectOf(name: string): SubjectName {
  const found = subjects.find(each => each === name)
  if (found === undefined)
    throw new UsageError(`--subjects: ${JSON.stringify(name)} is not one of ${subjects.join(', ')}`)
  return found
}
