// `npm run bench -- throughput`: compares the cost of calls with other clients, each measurement in a separate process.
// See bench/method.md.
// May import: bench/measure/statistics.ts, bench/output, bench/processes, src/index.ts, src/protocol/index.ts,
// src/recipes/index.ts, src/server/index.ts, environment.
import { mkdir, writeFile } from 'node:fs/promises'
import { thisMachine } from '../output/result.ts'
import { rotated } from '../processes/measuring-process.ts'
import { runProgram, unlessStopped } from '../output/interrupted.ts'
import { Bench, startServer } from './bench.ts'
import { verdictsOf } from './verdict.ts'
import { help, parseOptions, type Options } from './options.ts'
import { tableOf, verdictTableOf } from './table.ts'
import { measureInTurns } from './turns.ts'
import type { SubjectName, Sample, Workload } from './workloads.ts'

/** True if a target's ratio needs this subject. */
const isNeededByTarget = ({ targets }: Workload, name: SubjectName): boolean =>
  name === 'zkwire' || targets.some(({ by }) => 'subject' in by && by.subject === name)

/** In so many turns, each contender of a lock has it fifty times. */
const TURNS = 10

const isInTurns = ({ measure }: Workload): boolean => measure.is === 'handOver' || measure.is === 'notifications'

async function main(options: Options): Promise<void> {
  await using server = await startServer()
  await using bench = await Bench.ready(options, server)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<SubjectName, Sample[]>()]))
  for (let round = 0; round < options.rounds; round++) {
    for (const workload of options.workloads) {
      const all = workload.by.filter(
        name => options.subjects.includes(name) && (round < options.peerRounds || isNeededByTarget(workload, name)),
      )
      const turns = rotated(all, round)
      const progress = (what: string) =>
        process.stderr.write(`\r\x1b[Kround ${round + 1} of ${options.rounds}: ${workload.name}, ${what}`)
      const record = (subject: SubjectName, sample: Sample) => {
        const bySubject = samples.get(workload.name)
        bySubject?.set(subject, [...(bySubject.get(subject) ?? []), sample])
      }
      const measure = async (subject: SubjectName) => {
        progress(subject)
        record(subject, await bench.measure(workload, subject))
      }
      // Memory is measured in parallel. It takes long, because each process must be idle for a while, and other
      // processes do not affect the figure.
      if (workload.measure.is === 'memory') await Promise.all(turns.map(measure))
      else if (isInTurns(workload)) {
        progress('in turns')
        const measured = await measureInTurns(bench, workload, turns, TURNS)
        measured.forEach((sample, subject) => record(subject, sample))
      } else for (const subject of turns) await measure(subject)
    }
  }
  process.stderr.write('\r\x1b[K')
  const verdicts = verdictsOf(options.workloads, samples)
  const machine = thisMachine()
  await mkdir(new URL('.', options.json), { recursive: true })
  const raw = [...samples].map(([workload, by]) => ({ workload, ...Object.fromEntries(by) }))
  await writeFile(options.json, JSON.stringify({ machine, date: new Date(), verdicts, samples: raw }, undefined, 1))
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
