// `npm start`: measures how notifications fan out (README.md in this folder). This folder contains the benchmarks of
// zkwire. Their figures are printed, and no test asserts them. The files directly in it are the command and its
// options.
// May import: bench/ensemble, bench/fleet, bench/harness, bench/measure, bench/output, bench/report/report.ts,
// bench/scenarios/index.ts, environment/named-programs.ts, src/session/servers/connect-string.ts.
import { relative } from 'node:path'
import { measureEnsemble } from './ensemble/measure.ts'
import { ensembleSentences } from './ensemble/sentences.ts'
import { startEnsemble } from './ensemble/start.ts'
import type { EnsembleFigures } from './ensemble/figures.ts'
import { processUnits } from './fleet/processes.ts'
import { fleetCaveats, measureWithMachines, type FleetFigures } from './fleet/shared-run.ts'
import { handOversOf, type HandOver } from './measure/hand-over.ts'
import { totalOf } from './measure/reconcile.ts'
import type { Measurement } from './measure/measurement.ts'
import { summaryOf } from './measure/summary.ts'
import { conclusionOf } from './output/conclusion.ts'
import { help, parseOptions, type Options } from './options.ts'
import { throughLine } from './harness/line.ts'
import type { Line } from './harness/line-timing.ts'
import { stagesOf, tasksOf } from './harness/plan.ts'
import { Progress } from './output/progress.ts'
import { recordAll } from './measure/recording.ts'
import { caveatsOf } from './output/caveats.ts'
import {
  ensureWritable,
  resultOf,
  thisMachine,
  unitsOf,
  write,
  writeResult,
  type Findings,
  type Result,
} from './output/result.ts'
import { Run } from './harness/run.ts'
import { nameOf, serverFor, type Server } from './harness/server.ts'
import { tableOf, wrap } from './output/table.ts'
import { Interrupted, runProgram } from './output/interrupted.ts'
import { UsageError } from './output/usage.ts'

async function measure(options: Options, stop: AbortController, args: readonly string[]): Promise<number> {
  const tasks = stagesOf(options.scenarios, options.sizes).flatMap(tasksOf)
  if (tasks.length === 0 && !options.all) throw new UsageError(caveatsOf([], options).join('\n'))
  // Check the files before the run, so that a wrong path is reported at once and not at the end.
  for (const file of [options.json, options.report]) await ensureWritable(file)
  const progress = new Progress(process.stderr)
  progress.show(`connecting to ${options.server}`)
  const starting = options.ensemble === undefined ? serverFor(options.server) : startEnsemble(options.ensemble)
  const near = await starting.finally(() => progress.clear())
  const [line, ...others] = options.lines
  const server = line === undefined ? near : await throughLine(near, line)
  try {
    const { processes } = options
    const isLock = ({ scenario }: Measurement) => locksOf(options).some(({ name }) => name === scenario)
    const units = processes !== undefined && { units: processUnits }
    // The runs through all lines share the time.
    const plan = { ...options, seconds: options.seconds / (1 + others.length), ...units }
    let run = new Run(plan, server, progress, stop)
    let handOvers: HandOver[] | undefined
    let ensemble: EnsembleFigures | undefined
    let fleet: FleetFigures | undefined
    const notes: string[] = []
    const measureBoth = async () => {
      if (options.fleet === undefined) await run.measure()
      else {
        const shared = { ...options.fleet, processes: processes ?? 1, options, server }
        fleet = await measureWithMachines(shared, progress, stop, each => (run = each))
      }
      if (line !== undefined && others.length > 0) {
        handOvers = handOversOf(run.measurements.filter(isLock).map(summaryOf), line.roundTrip)
        for (const other of others) handOvers.push(...(await handOversThrough(other, near, plan, progress, stop)))
      }
      ensemble = await measureEnsemble(server, options, progress, stop.signal).catch((error: unknown) => {
        stop.signal.throwIfAborted()
        // The run before it is complete, and its figures must not be lost.
        notes.push(`The servers were not measured one by one: ${(error as Error).message}.`)
        return undefined
      })
    }
    const end = await measureBoth().then(
      () => undefined,
      (reason: unknown) => {
        if (reason instanceof Interrupted && run.measurements.some(isMeasured)) return reason
        throw reason
      },
    )
    await writeReports(run, server, options, args, { handOvers, ensemble, fleet, notes }, end)
    return end?.exitCode ?? 0
  } finally {
    await server.close()
  }
}

async function handOversThrough(
  line: Line,
  near: Server,
  plan: Options,
  progress: Progress,
  stop: AbortController,
): Promise<HandOver[]> {
  const server = await throughLine({ ...near, close: () => Promise.resolve() }, line)
  try {
    const run = new Run({ ...plan, scenarios: locksOf(plan) }, server, progress, stop)
    await run.measure()
    return handOversOf(run.measurements.map(summaryOf), line.roundTrip)
  } finally {
    await server.close()
  }
}

async function writeReports(
  run: Run,
  server: Server,
  options: Options,
  args: readonly string[],
  { notes, ...more }: Pick<Findings, 'handOvers' | 'ensemble' | 'fleet'> & { notes: readonly string[] },
  end?: Interrupted,
) {
  const recordings = end === undefined ? await recordAll(locksOf(options), server.servers) : []
  const measurements = run.measurements.filter(isMeasured)
  const seconds = performance.now() / 1000
  const caveats = [
    ...(more.fleet === undefined ? [] : fleetCaveats(more.fleet)),
    ...caveatsOf(measurements, options),
    ...linesSentences(options.lines),
    ...notes,
  ]
  const findings = {
    measurements,
    server,
    seconds,
    traffic: run.traffic,
    ended: end?.message,
    caveats,
    recordings,
    ...more,
  }
  const machine = thisMachine()
  const result = resultOf(findings, options, args, machine, new Date())
  await writeResult(options.json, result)
  // Loaded late, because the plot library takes longer to load than everything else and many runs end before it is
  // needed.
  const { reportOf } = await import('./report/report.ts')
  await write(options.report, await reportOf(result))
  const duration = `${end === undefined ? 'Took' : `${end.message} after`} ${Math.round(seconds)} s.`
  process.stdout.write(`
What a herd costs on ${nameOf(server)}
Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores, ${unitsOf(result)}

${options.tables ? `${tableOf(result.cells, result.growth, machine.cores)}\n` : ''}${[...conclusionOf(result), '', ...ensembleLines(result), ...reconciliationLine(result), ...caveats].map(wrap).join('\n')}
${duration} Result: ${relative('.', options.json)}
Report, with plots and a timeline: ${relative('.', options.report)}
All figures are in the report; --tables prints those of the scenarios.
How to read them, and how they were measured: bench/README.md
`)
}

const ensembleLines = ({ ensemble }: Result): string[] =>
  ensemble === undefined ? [] : [...ensembleSentences(ensemble), '']

function reconciliationLine({ cells }: Result): string[] {
  const total = totalOf(cells.map(({ bothSides }) => bothSides))
  if (total === undefined || !total.agree) return []
  const { framesSent, framesReceived } = total.clients
  return [`Clients and server counted the same: ${framesSent} frames sent, ${framesReceived} received.`]
}

const locksOf = ({ scenarios }: Options) => scenarios.filter(({ kind }) => kind === 'lock')

const linesSentences = ([line, ...others]: readonly Line[]): string[] => {
  if (line === undefined) return []
  const delays = others.map(({ roundTrip }) => roundTrip).join(', ')
  const again = `Then the locks were measured through lines that add ${delays} ms instead: the report compares them.`
  return [lineSentence(line), ...(others.length === 0 ? [] : [again])]
}

const lineSentence = ({ roundTrip, jitter, bandwidth }: Line): string =>
  [
    `All bytes passed a line that adds ${roundTrip} ms to a round trip`,
    ...(jitter > 0 ? [`up to ${jitter} ms by chance to each direction`] : []),
    ...(bandwidth < Infinity ? [`the time of ${bandwidth / 1e6} Mbit/s`] : []),
  ].join(', ') + '.'

const isMeasured = ({ counted }: Measurement): boolean => counted.length > 0

await runProgram({ command: 'npm start', help, parse: parseOptions, run: measure })
