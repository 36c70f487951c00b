// `npm start`: how notifications fan out, measured. See README.md beside this file.
import { relative } from 'node:path'
import { totalOf } from './measure/reconcile.ts'
import type { Cell } from './measure/measurement.ts'
import { comparisonOf } from './output/compare.ts'
import { help, parseOptions, type Options } from './options.ts'
import { stagesOf, tasksOf } from './harness/plan.ts'
import { Progress } from './output/progress.ts'
import { recordAll } from './measure/recording.ts'
import { remarksOn } from './output/caveats.ts'
import { makeRoomFor, readResult, resultOf, thisMachine, write, writeResult, type Result } from './output/result.ts'
import { Run } from './harness/run.ts'
import { nameOf, serverFor, type Server } from './harness/server.ts'
import { tableOf } from './output/table.ts'
import { refuse, UsageError } from './output/usage.ts'

class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: NodeJS.Signals, exitCode: number) {
    super(`Interrupted by ${signal}`)
    this.exitCode = exitCode
  }
}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** The first signal ends the run in good order, the second one at once. */
function endOnSignals(stop: AbortController): void {
  for (const [signal, exitCode] of Object.entries(EXIT_CODES))
    // Not `once`: who starts our server ends this process on a signal that nobody else listens to.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCode)
      stop.abort(new Interrupted(signal as NodeJS.Signals, exitCode))
    })
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (options === 'help') {
    process.stdout.write(help)
    return 0
  }
  const tasks = stagesOf(options.scenarios, options.sizes).flatMap(tasksOf)
  if (tasks.length === 0 && !options.all) throw new UsageError(remarksOn([], options).join('\n'))
  const stop = new AbortController()
  endOnSignals(stop)
  try {
    return await measure(options, args, stop)
  } catch (error) {
    // An interrupted start fails somehow.
    throw stop.signal.aborted ? stop.signal.reason : error
  }
}

async function measure(options: Options, args: readonly string[], stop: AbortController): Promise<number> {
  // What is wrong with it should not be told after a minute.
  const older = options.compare === undefined ? undefined : await readResult(options.compare)
  for (const file of [options.json, options.report]) await makeRoomFor(file)
  const progress = new Progress(process.stderr)
  progress.say(`${options.server}: is it there?`)
  const server = await serverFor(options.server).finally(() => progress.clear())
  try {
    const run = new Run(options, server, progress, stop)
    const end = await run.measure().then(
      () => undefined,
      (reason: unknown) => {
        if (reason instanceof Interrupted && run.cells.some(isMeasured)) return reason
        throw reason
      },
    )
    const result = await tell(run, server, options, args, end)
    if (older !== undefined) process.stdout.write(`\n${comparisonOf(older, result)}`)
    return end?.exitCode ?? 0
  } finally {
    await server.close()
  }
}

async function tell(run: Run, server: Server, options: Options, args: readonly string[], end?: Interrupted) {
  const locks = options.scenarios.filter(({ kind }) => kind === 'lock')
  const recordings = end === undefined ? await recordAll(locks, server.servers) : []
  const cells = run.cells.filter(isMeasured)
  const seconds = performance.now() / 1000
  const remarks = remarksOn(cells, options)
  const findings = { cells, server, seconds, traffic: run.traffic, ended: end?.message, remarks, recordings }
  const machine = thisMachine()
  const result = resultOf(findings, options, args, machine, new Date())
  await writeResult(options.json, result)
  // What draws takes longer to load than all else, and most of what ends early draws nothing.
  const { reportOf } = await import('./report/report.ts')
  await write(options.report, await reportOf(result))
  const took = `${end === undefined ? 'Took' : `${end.message} after`} ${Math.round(seconds)} s.`
  process.stdout.write(`
zkwire fan-out on ${nameOf(server)}
Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores, ${options.threads} client threads

${tableOf(result.cells, result.growth, machine.cores)}
${[...bothEnds(result), ...remarks].map(folded).join('\n')}
${took} Result: ${relative('.', options.json)}
Report, with plots and a timeline: ${relative('.', options.report)}
How to read this, and how it was measured: bench/README.md
`)
  return result
}

function bothEnds({ cells }: Result): string[] {
  const total = totalOf(cells.map(({ bothSides }) => bothSides))
  if (total === undefined || !total.agree) return []
  const { framesSent, framesReceived } = total.clients
  return [`Counted alike at both ends of the wire: ${framesSent} frames sent, ${framesReceived} received.`]
}

/** For a terminal of 80 columns. */
const folded = (text: string): string => text.replace(/(?=.{81})(.{1,80})\s/g, '$1\n')

const isMeasured = ({ counted }: Cell): boolean => counted.length > 0

// After a good run the process ends by itself. After a bad one, sessions may still be looking for their server.
try {
  const exitCode = await main(process.argv.slice(2))
  if (exitCode !== 0) process.exit(exitCode)
} catch (error) {
  if (error instanceof UsageError) refuse('npm start', error)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(error instanceof Interrupted ? error.exitCode : 1)
}
