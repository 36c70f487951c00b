// `npm run bench -- growth`: measures whether costs stay flat as calls, watches, sessions and frames grow. See
// bench/README.md.
// May import: bench/harness, bench/measure/ratio.ts, bench/measure/statistics.ts, bench/output, bench/processes,
// bench/report, src/index.ts.
import { relative } from 'node:path'
import { Progress } from '../output/progress.ts'
import { thisMachine, write } from '../output/result.ts'
import { runProgram, unlessStopped } from '../output/interrupted.ts'
import { findingsOf, LIMITS } from './verdict.ts'
import { help, parseOptions, type Options } from './options.ts'
import { pageOf } from './page.ts'
import { run } from './run.ts'
import { summaryOf, tableOf } from './table.ts'

async function main(options: Options): Promise<number> {
  const progress = new Progress(process.stderr)
  const samples = await run(options, what => progress.show(what)).finally(() => progress.clear())
  const findings = findingsOf(samples)
  const [machine, date] = [thisMachine(), new Date()]
  const raw = [...samples].map(([workload, bySize]) => ({ workload, samples: Object.fromEntries(bySize) }))
  await write(options.json, JSON.stringify({ machine, date, limits: LIMITS, findings, raw }, undefined, 1))
  await write(options.report, await pageOf(findings, machine, date))
  process.stdout.write(`
zkwire growth, ${options.rounds} rounds; Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores

${tableOf(findings)}

${summaryOf(findings)} Took ${Math.round(performance.now() / 1000)} s.
Plots: ${relative('.', options.report)}
`)
  return findings.every(({ isFlat }) => isFlat) ? 0 : 1
}

await runProgram({
  command: 'npm run bench -- growth',
  help,
  parse: parseOptions,
  run: (options, stop) => unlessStopped(main(options), stop),
})
