// `npm run bench -- calls`: compares the cost of calls with that of another commit. See bench/README.md.
import { loadavg } from 'node:os'
import { thisMachine } from '../output/result.ts'
import { runProgram, unlessStopped } from '../output/interrupted.ts'
import { UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { Bench, startServer } from './bench.ts'
import { callTableOf, slowdownsOf } from './call-table.ts'
import { referenceTo } from './reference.ts'
import { measureInTurns } from './turns.ts'
import { workloads, type Sample, type SubjectName, type Workload } from './workloads.ts'

const COMMAND = 'npm run bench -- calls'

const help = `${COMMAND} [options]

Compares the cost of calls with that of another commit, which it checks out and builds, with
the leanest client that decodes replies, and with a raw socket. Their processes take turns.
Exits with 1 if a call got more than 5 % slower beyond doubt. See bench/README.md.

  --against REF            the other commit (HEAD)
  --rounds N               rounds, each with new processes (9)
  --turns N                turns of each process in a round (8)
  --span MS                length of a turn, ms (100)
  --only TEXT              only workloads whose names contain TEXT
  --node-option OPTION     pass OPTION to node in the measuring processes
  --help                   print this help
`

/** What is compared, on Apache's server and on the mock. */
const CALLS = ['getData 64', 'getData 512', 'setData 64', 'createAndDelete 64']
const HAND_OVERS = ['Mutex hand-over', 'TicketMutex hand-over']
const compared = workloads.filter(({ name }) => [...CALLS, ...HAND_OVERS].includes(name.replace(', mock', '')))
const subjects = ['raw', 'lean', 'floor', 'before', 'zkwire'] as const satisfies SubjectName[]

/** The leanest client has no locks. A script of a lock's requests is the raw socket's. */
const subjectsOf = ({ measure }: Workload) =>
  subjects.filter(name => measure.is !== 'handOver' || (name !== 'lean' && name !== 'floor'))

interface Options {
  against: string
  rounds: number
  turns: number
  span: number
  workloads: Workload[]
  execArgv: string[]
}

function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const values = valuesOf({
    args: [...args],
    options: {
      ...{ against: text, rounds: text, turns: text, span: text, only: text },
      ...{ 'node-option': { type: 'string', multiple: true }, help: { type: 'boolean' } },
    },
  })
  if (values.help === true) return 'help'
  const { only = '' } = values
  const chosen = compared.filter(({ name }) => name.includes(only))
  if (chosen.length === 0)
    throw new UsageError(`--only: the workloads are: ${compared.map(({ name }) => name).join('; ')}`)
  return {
    against: values.against ?? 'HEAD',
    rounds: wholeNumber('rounds', values.rounds ?? '9'),
    turns: wholeNumber('turns', values.turns ?? '8'),
    span: wholeNumber('span', values.span ?? '100'),
    workloads: chosen,
    execArgv: values['node-option'] ?? [],
  }
}

async function main(options: Options): Promise<number> {
  const before = await referenceTo(options.against)
  const { rounds, turns, span, execArgv } = options
  const setup = { workloads: options.workloads, subjects, warmUp: 400, span, execArgv, before: before.dist }
  await using server = await startServer()
  await using bench = await Bench.ready(setup, server)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<SubjectName, Sample[]>()]))
  for (let round = 0; round < rounds; round++)
    for (const workload of options.workloads) {
      process.stderr.write(`\r\x1b[Kround ${round + 1} of ${rounds}: ${workload.name}`)
      const bySubject = samples.get(workload.name)
      for (const [name, sample] of await measureInTurns(bench, workload, subjectsOf(workload), turns))
        bySubject?.set(name, [...(bySubject.get(name) ?? []), sample])
    }
  process.stderr.write('\r\x1b[K')
  const { node, cpu, cores } = thisMachine()
  const slowdowns = slowdownsOf(samples)
  process.stdout.write(`
zkwire now and before (${before.title}), ${rounds} rounds of ${turns} turns
Node ${node} on ${cpu}, ${cores} cores, load average ${loadavg()[0]?.toFixed(1)}

${callTableOf(samples)}

${slowdowns.length > 0 ? slowdowns.join('\n') : 'Nothing got more than 5 % slower beyond doubt.'}
`)
  return slowdowns.length > 0 ? 1 : 0
}

await runProgram({
  command: COMMAND,
  help,
  parse: parseOptions,
  run: (options, stop) => unlessStopped(main(options), stop),
})
