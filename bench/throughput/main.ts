// `npm run bench -- throughput`: compares the cost of calls with other clients, each measurement in a separate process.
// See bench/method.md.
// May import: bench/measure/ratio.ts, bench/measure/statistics.ts, bench/output, bench/processes, src/index.ts,
// src/protocol/index.ts, src/recipes/index.ts, src/server/index.ts, environment.
import { Progress } from '../output/progress.ts'
import { thisMachine, write } from '../output/result.ts'
import { runProgram, unlessStopped } from '../output/interrupted.ts'
import { measureInTurns, rotated, type Sample } from '../processes/turns.ts'
import { Bench, startServer } from './bench.ts'
import { leastOf, verdictsOf } from './verdict.ts'
import { help, parseOptions, type Options } from './options.ts'
import { tableOf, verdictTableOf } from './table.ts'
import { isInTurns, type SubjectName, type Workload } from './workloads.ts'

/** True if a target's ratio needs this subject. */
const isNeededByTarget = ({ targets }: Workload, name: SubjectName): boolean =>
  name === 'zkwire' || targets.some(({ by }) => 'subject' in by && by.subject === name)

/** In so many turns, each contender of a lock has it fifty times. */
const TURNS = 10

async function main(options: Options): Promise<void> {
  await using server = await startServer()
  await using bench = await Bench.ready(options, server)
  const progress = new Progress(process.stderr)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<SubjectName, Sample[]>()]))
  for (let round = 0; round < options.rounds; round++) {
    for (const workload of options.workloads) {
      const subjects = rotated(
        workload.by.filter(
          name => options.subjects.includes(name) && (round < options.peerRounds || isNeededByTarget(workload, name)),
        ),
        round,
      )
      const bySubject = samples.get(workload.name)
      const measure = async (some: readonly SubjectName[], turns: number) => {
        const measured = await measureInTurns(
          some,
          turns,
          subject => bench.open(workload, subject),
          subject => progress.show(`round ${round + 1} of ${options.rounds}: ${workload.name}, ${subject}`),
        )
        for (const [subject, all] of measured)
          bySubject?.set(subject, [...(bySubject.get(subject) ?? []), isInTurns(workload) ? leastOf(all) : all].flat())
      }
      // Memory is measured in parallel. It takes long, because each process must be idle for a while, and other
      // processes do not affect the figure.
      if (workload.measure.is === 'memory') await Promise.all(subjects.map(subject => measure([subject], 1)))
      else if (isInTurns(workload)) await measure(subjects, TURNS)
      else for (const subject of subjects) await measure([subject], 1)
    }
  }
  progress.clear()
  const verdicts = verdictsOf(options.workloads, samples)
  const machine = thisMachine()
  const raw = [...samples].map(([workload, by]) => ({ workload, ...Object.fromEntries(by) }))
  await write(options.json, JSON.stringify({ machine, date: new Date(), verdicts, samples: raw }, undefined, 1))
  process.stdout.write(`
zkwire throughput, ${options.rounds} rounds; Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores

${tableOf(options.workloads, samples)}

${verdictTableOf(verdicts)}
`)
}

await runProgram({
  command: 'npm run bench -- throughput',
  help,
  parse: parseOptions,
  run: (options, stop) => unlessStopped(main(options), stop),
})
