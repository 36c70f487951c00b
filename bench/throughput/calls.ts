// `npm run bench -- calls`: compares the cost of calls with that of another commit. See bench/README.md.
import { loadavg } from 'node:os'
import { thisMachine } from '../output/result.ts'
import { runProgram, unlessStopped } from '../output/interrupted.ts'
import { Progress } from '../output/progress.ts'
import { valuesOf, wholeNumber } from '../output/usage.ts'
import { roundsHelp, roundsOf, roundsOptions, type Rounds } from '../processes/options.ts'
import { measureInTurns, type Sample } from '../processes/turns.ts'
import { Bench, startServer } from './bench.ts'
import { callTableOf, slowdownsOf } from './call-table.ts'
import { referenceTo } from './reference.ts'
import { leastOf } from './verdict.ts'
import { workloads, type SubjectName, type Workload } from './workloads.ts'

const COMMAND = 'npm run bench -- calls'

const DEFAULTS = { rounds: 9, warmUp: 400, span: 100 }

const help = `${COMMAND} [options]

Compares the cost of calls with that of another commit, which it checks out and builds, with
the leanest client that decodes replies, and with a raw socket. Their processes take turns.
Exits with 1 if a call got more than 5 % slower beyond doubt. See bench/README.md.

  --against REF            the other commit (HEAD)
  --turns N                turns of each process in a round (8)
${roundsHelp(DEFAULTS)}`

/** What is compared, on Apache's server and on the mock. */
const CALLS = ['getData 64', 'getData 512', 'setData 64', 'createAndDelete 64']
const HAND_OVERS = ['Mutex hand-over', 'TicketMutex hand-over']
const compared = workloads.filter(({ name }) => [...CALLS, ...HAND_OVERS].includes(name.replace(', mock', '')))
const subjects = ['raw', 'lean', 'floor', 'before', 'zkwire'] as const satisfies SubjectName[]

/** The leanest client has no locks. A script of a lock's requests is the raw socket's. */
const subjectsOf = ({ measure }: Workload) =>
  subjects.filter(name => measure.is !== 'handOver' || (name !== 'lean' && name !== 'floor'))

interface Options extends Rounds<Workload> {
  against: string
  turns: number
}

function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const values = valuesOf({ args: [...args], options: { ...roundsOptions, against: text, turns: text } })
  if (values.help === true) return 'help'
  return {
    ...roundsOf(values, compared, DEFAULTS),
    against: values.against ?? 'HEAD',
    turns: wholeNumber('turns', values.turns ?? '8'),
  }
}

async function main(options: Options): Promise<number> {
  const before = await referenceTo(options.against)
  const { rounds, turns } = options
  await using server = await startServer()
  await using bench = await Bench.ready({ ...options, subjects, before: before.dist }, server)
  const progress = new Progress(process.stderr)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<SubjectName, Sample[]>()]))
  for (let round = 0; round < rounds; round++)
    for (const workload of options.workloads) {
      progress.show(`round ${round + 1} of ${rounds}: ${workload.name}`)
      const bySubject = samples.get(workload.name)
      const open = (subject: SubjectName) => bench.open(workload, subject)
      for (const [name, all] of await measureInTurns(subjectsOf(workload), turns, open))
        bySubject?.set(name, [...(bySubject.get(name) ?? []), leastOf(all)])
    }
  progress.clear()
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
