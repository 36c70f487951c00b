// `npm start`: measures how notifications fan out (README.md in this folder). This folder contains the benchmarks of
// zkwire. Their figures are printed, and no test asserts them. The files directly in it are the command and its
// options.
// May import: bench/ensemble, bench/fleet, bench/harness, bench/measure, bench/model/forecast.ts,
// bench/model/predict.ts, bench/output, bench/peers, bench/report/peers.ts, bench/report/report.ts,
// bench/scenarios/index.ts, site/world/release-link.ts, src/session/servers/connect-string.ts.
import { relative } from 'node:path'
import { measureEnsemble } from './ensemble/measure.ts'
import { ensembleSentences, ensembleTables } from './ensemble/sentences.ts'
import { startEnsemble } from './ensemble/start.ts'
import type { EnsembleFigures } from './ensemble/figures.ts'
import { processUnits } from './fleet/processes.ts'
import { takePart } from './fleet/participant.ts'
import { fleetCaveats, measureWithMachines, type FleetFigures } from './fleet/shared-run.ts'
import { totalOf } from './measure/reconcile.ts'
import type { Measurement } from './measure/measurement.ts'
import { printComparison, readComparable } from './comparison.ts'
import { comparableOf } from './output/comparable.ts'
import { conclusionOf } from './output/conclusion.ts'
import { help, parseOptions, type Options } from './options.ts'
import { measurePeers } from './peers.ts'
import { stagesOf, tasksOf } from './harness/plan.ts'
import { Progress } from './output/progress.ts'
import { recordAll } from './measure/recording.ts'
import { predict } from './model/predict.ts'
import { playableFrom } from './playground.ts'
import { caveatsOf } from './output/caveats.ts'
import {
  ensureWritable,
  readResult,
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
import { exitWithUsageError, UsageError } from './output/usage.ts'

class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: NodeJS.Signals, exitCode: number) {
    super(`Interrupted by ${signal}`)
    this.exitCode = exitCode
  }
}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * The first signal stops the run, which then closes its sessions and removes its nodes. The second signal exits at
 * once.
 */
function abortOnSignals(stop: AbortController): void {
  for (const [signal, exitCode] of Object.entries(EXIT_CODES))
    // Not `once`: test/support/at-exit.ts ends this process on a signal that has no other listener.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCode)
      stop.abort(new Interrupted(signal as NodeJS.Signals, exitCode))
    })
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--predict') && !args.includes('--help')) {
    process.stdout.write(`${(await predict(args)).split('\n').map(wrap).join('\n')}\n`)
    return 0
  }
  const options = parseOptions(args.filter(each => each !== '--predict'))
  if (options === 'help') {
    process.stdout.write(help)
    return 0
  }
  const { compare: older, to, failIfWorse } = options
  if (older !== undefined && to !== undefined)
    return printComparison(await readComparable(older), await readComparable(to), failIfWorse)
  const tasks = stagesOf(options.scenarios, options.sizes).flatMap(tasksOf)
  if (!options.peers && tasks.length === 0 && !options.all) throw new UsageError(caveatsOf([], options).join('\n'))
  const stop = new AbortController()
  abortOnSignals(stop)
  const { join, machines, processes = 1 } = options
  try {
    if (join !== undefined && machines === undefined) {
      await takePart(join, { processes }, line => process.stdout.write(`${line}\n`), stop)
      return 0
    }
    return await (options.peers ? measurePeers : measure)(options, args, stop)
  } catch (error) {
    // An interrupted start may fail with any error, so report the interruption.
    throw stop.signal.aborted ? stop.signal.reason : error
  }
}

async function measure(options: Options, args: readonly string[], stop: AbortController): Promise<number> {
  // Check the files before the run, so that a wrong path is reported at once and not at the end.
  const older = options.compare === undefined ? undefined : comparableOf(await readResult(options.compare))
  for (const file of [options.json, options.report]) await ensureWritable(file)
  const progress = new Progress(process.stderr)
  progress.show(`connecting to ${options.server}`)
  const starting = options.ensemble === undefined ? serverFor(options.server) : startEnsemble(options.ensemble)
  const server = await starting.finally(() => progress.clear())
  try {
    const { processes } = options
    let run = new Run({ ...options, ...(processes !== undefined && { units: processUnits }) }, server, progress, stop)
    let ensemble: EnsembleFigures | undefined
    let fleet: FleetFigures | undefined
    const notes: string[] = []
    const measureBoth = async () => {
      const { join: meeting, machines = 1 } = options
      if (meeting === undefined) await run.measure()
      else {
        const plan = { meeting, machines, processes: processes ?? 1, options, server }
        fleet = await measureWithMachines(plan, progress, stop, each => (run = each))
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
    const result = await writeReports(run, server, options, args, { ensemble, fleet, notes }, end)
    const verdict = older === undefined ? 0 : printComparison(older, comparableOf(result), options.failIfWorse)
    return end?.exitCode ?? verdict
  } finally {
    await server.close()
  }
}

async function writeReports(
  run: Run,
  server: Server,
  options: Options,
  args: readonly string[],
  { notes, ...more }: Pick<Findings, 'ensemble' | 'fleet'> & { notes: readonly string[] },
  end?: Interrupted,
) {
  const locks = options.scenarios.filter(({ kind }) => kind === 'lock')
  const recordings = end === undefined ? await recordAll(locks, server.servers) : []
  const measurements = run.measurements.filter(isMeasured)
  const seconds = performance.now() / 1000
  const caveats = [
    ...(more.fleet === undefined ? [] : fleetCaveats(more.fleet)),
    ...caveatsOf(measurements, options),
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
  const playable = await playableFrom(options.report, recordings)
  await write(options.report, await reportOf(result, playable))
  const duration = `${end === undefined ? 'Took' : `${end.message} after`} ${Math.round(seconds)} s.`
  process.stdout.write(`
What a herd costs on ${nameOf(server)}
Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores, ${unitsOf(result)}

${options.tables ? `${tablesOf(result)}\n` : ''}${[...conclusionOf(result), '', ...ensembleLines(result), ...reconciliationLine(result), ...caveats].map(wrap).join('\n')}
${duration} Result: ${relative('.', options.json)}
Report, with plots and a timeline: ${relative('.', options.report)}
${playable.size > 0 ? '' : 'If npm run site:playground was run before, the report also links to a page that\nplays these releases.\n'}All figures are in the report, and in the tables that --tables prints.
How to read them, and how they were measured: bench/README.md
`)
  return result
}

const tablesOf = ({ cells, growth, machine, ensemble }: Result): string =>
  [tableOf(cells, growth, machine.cores), ...(ensemble === undefined ? [] : [...ensembleTables(ensemble), ''])].join(
    '\n',
  )

const ensembleLines = ({ ensemble }: Result): string[] =>
  ensemble === undefined ? [] : [...ensembleSentences(ensemble), '']

function reconciliationLine({ cells }: Result): string[] {
  const total = totalOf(cells.map(({ bothSides }) => bothSides))
  if (total === undefined || !total.agree) return []
  const { framesSent, framesReceived } = total.clients
  return [`Clients and server counted the same: ${framesSent} frames sent, ${framesReceived} received.`]
}

const isMeasured = ({ counted }: Measurement): boolean => counted.length > 0

// After a successful run the process exits on its own. After a failure, sessions may still be trying to reconnect.
try {
  const exitCode = await main(process.argv.slice(2))
  if (exitCode !== 0) process.exit(exitCode)
} catch (error) {
  if (error instanceof UsageError) exitWithUsageError('npm start', error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(error instanceof Interrupted ? error.exitCode : 1)
}
