// The harness of the fan-out benchmark: sessions in worker threads or processes play scenarios within a given time.
// This file: a whole run on one server, stage by stage. It removes its sessions and nodes at the end.
// May import: bench/measure, bench/output/progress.ts, bench/scenarios/index.ts, src/index.ts, src/runtime/shuffle.ts,
// src/server/index.ts, src/session/servers/connect-string.ts, src/transport, environment.
import { seededRandom } from '../../environment/seeded-random.ts'
import { randomUUID } from 'node:crypto'
import { connect, type Client } from '../../src/index.ts'
import { ScenarioRun, type Measurement } from '../measure/measurement.ts'
import { rejection } from './aborted.ts'
import { threadUnits } from './threads.ts'
import { Workers, type UnitStart } from './workers.ts'
import { startReconciliation, type WireCounters } from '../measure/reconcile.ts'
import { refuseWithoutDescriptors } from './descriptors.ts'
import { Estimator, type Activity } from './estimator.ts'
import { affordable, peakSessionsOf, shareOf, stagesOf, tasksOf, type Stage, type Task } from './plan.ts'
import type { Progress } from '../output/progress.ts'
import type { Scenario } from './scenario.ts'
import type { Server } from './server.ts'
import { SESSION_TIMEOUT } from './sessions.ts'
import { abortOnStall } from './stall.ts'
import { sum } from '../measure/statistics.ts'
import { FrameCounter, noTraffic, totalTraffic, type Traffic } from '../measure/frame-counter.ts'
import { shuffle } from '../../src/runtime/shuffle.ts'

export interface RunOptions {
  /** Numbers of sessions, ascending. */
  sizes: readonly number[]
  scenarios: readonly Scenario[]
  /** The time limit of the run, s. */
  seconds: number
  /** The number of worker threads. */
  threads: number
  /** Chooses the random order of the measurements. */
  seed: number
  /** True if scenarios that move hundreds of megabytes at once are included. */
  all: boolean
  /** The number of processes of one thread that share the sessions. Default: threads of this process share them. */
  processes?: number | undefined
  /** Skips measurements that are expected to end after this many times `seconds`. Default 1.1. */
  overtime?: number
  /** Measures only counted steps, and uses their times. Default false. */
  onlyCounted?: boolean
  /** Starts what has the sessions. Default: worker threads of this process. */
  units?: (count: number, servers: string, fencePath: string) => UnitStart[]
}

/** A run may exceed its time by this factor, to measure each figure at least once. */
const OVERTIME = 1.1
const ROUNDS = 5
const COUNTED = { least: 2, most: 10, share: 0.25 }
/** The number of steps of each scenario for which time is reserved: two counted and one timed. */
const LEAST_STEPS = 3
const TIMED = { most: 400 }
/**
 * The limits of the warm-up, in which the scenarios on shared sessions run unmeasured. Otherwise the first measurements
 * would include the compilers of V8 and the JVM.
 */
const WARM_UP = { size: 10, steps: 20, share: 0.04, most: 2000 }
/**
 * The time limit of the clean-up after an abort, ms. The server may not reply any more. A server that this run started
 * takes its data with it, and a signal has already ended Apache's.
 */
const CLEAN_UP_TIMEOUT = { own: 1000, given: 10_000 }
/** The time limit for closing the sessions of a complete run, ms. */
const CLOSE_TIMEOUT = 60_000

export class Run {
  readonly #options: RunOptions
  readonly #server: Server
  readonly #progress: Progress
  readonly #stop: AbortController
  /** The parent of all nodes of the run, and the path of the fences. */
  readonly #root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  readonly #random: () => number
  readonly #stages: readonly Stage[]
  readonly #estimator = new Estimator()
  /** Counts the frames that set up and remove directories: they belong to no scenario. */
  readonly #setUpFrames = new FrameCounter(this.#root, {
    framePassed: () => undefined,
    otherFramePassed: () => undefined,
  })
  #workers: Workers | undefined
  #directories = 0
  #opened = 0
  /** The measurements so far. The last ones may be incomplete. */
  readonly measurements: Measurement[] = []
  /** The traffic of the whole run, including fences and pings. */
  traffic: Traffic = noTraffic()

  /** @param stop aborts the run. The run aborts it itself if a worker fails. */
  constructor(options: RunOptions, server: Server, progress: Progress, stop: AbortController) {
    this.#options = options
    this.#server = server
    this.#progress = progress
    this.#stop = stop
    this.#random = seededRandom(options.seed)
    this.#stages = stagesOf(options.scenarios, options.sizes, options.all ? Infinity : undefined)
  }

  /** Rejects with the reason of `stop` if aborted. Removes its nodes in any case, if the server can be reached. */
  async measure(): Promise<void> {
    const { signal } = this.#stop
    const { processes, threads, units = threadUnits } = this.#options
    signal.throwIfAborted()
    const sessions = peakSessionsOf(this.#stages)
    refuseWithoutDescriptors({ sessions, processes, threads, servers: this.#server.pids })
    let admin: Client | undefined
    let guard: NodeJS.Timeout | undefined
    try {
      const onFrame = this.#setUpFrames.observer()
      admin = await connect(this.#server.servers, { sessionTimeout: SESSION_TIMEOUT, signal, onFrame })
      await admin.create(this.#root)
      const workers = new Workers(units(processes ?? threads, this.#server.servers, this.#root), {
        failed: error => this.#stop.abort(error),
        opened: () => this.#progress.show(`${++this.#opened} sessions opened`),
      })
      this.#workers = workers
      guard = abortOnStall(() => workers.activity + this.#opened, this.#stop)
      await Promise.race([this.#measureAll(workers, admin), rejection(signal)])
      this.traffic = await workers.traffic()
    } finally {
      clearInterval(guard)
      this.#progress.clear()
      await this.#cleanUp(admin)
    }
  }

  async #measureAll(workers: Workers, admin: Client): Promise<void> {
    const { sizes, seconds, overtime = OVERTIME } = this.#options
    const time = seconds * 1000
    const begun = performance.now()
    this.#progress.endsAt(begun + time)
    await this.#warmUp(
      workers,
      admin,
      Math.min(WARM_UP.size, ...sizes),
      begun + Math.min(WARM_UP.most, WARM_UP.share * time),
    )
    for (const [i, all] of this.#stages.entries()) {
      const now = performance.now()
      const toEnd = this.#estimator.estimateEnd(all.size)
      // The smallest size is always measured, so that each scenario has a figure.
      const deadline = all.size === Math.min(...sizes) ? Infinity : begun + time * overtime - toEnd
      const once = (task: Task) => this.#estimator.estimateTask(task, 1)
      const stage = affordable(all, deadline - now - this.#estimator.estimateOpening(all.size), once)
      const stages = [stage, ...this.#stages.slice(i + 1)]
      const share = shareOf(stages, begun + time - toEnd - now, each => this.#leastFor(each))
      await this.#measureStage(workers, admin, stage, now + share, deadline)
    }
  }

  #leastFor(stage: Stage): number {
    const all = tasksOf(stage).map(task => this.#estimator.estimateTask(task, LEAST_STEPS))
    return all.length === 0 ? 0 : sum([this.#estimator.estimateOpening(stage.size), ...all])
  }

  async #warmUp(workers: Workers, admin: Client, size: number, until: number): Promise<void> {
    const { scenarios } = this.#options
    const sharing = scenarios.filter(({ ownSessions }) => ownSessions === undefined)
    await workers.open(size + 1)
    for (const scenario of sharing) {
      const run = await this.#setUp(workers, admin, scenario, size)
      this.#show(run, 'warming up')
      const isTime = () => performance.now() < until
      for (let i = 0; i < WARM_UP.steps && (i === 0 || isTime()); i++) await run.count()
      await run.time(done => done < WARM_UP.steps && isTime())
      await this.#tearDown(workers, admin, run)
    }
  }

  /** Measures until `ends`, or until `deadline` if a figure would otherwise be missing. */
  async #measureStage(workers: Workers, admin: Client, stage: Stage, ends: number, deadline: number): Promise<void> {
    const { size, interleaved, separate } = stage
    const leastFor = (scenarios: readonly Scenario[]) =>
      this.#leastFor({ size, interleaved: [], separate: [...scenarios] })
    const share = leastFor(separate) / (leastFor(interleaved) + leastFor(separate))
    const shared = ends - share * (ends - performance.now())
    if (interleaved.length > 0) {
      await workers.open(size + 1)
      const all: ScenarioRun[] = []
      for (const scenario of interleaved)
        if (this.#fits({ scenario, size }, deadline)) all.push(await this.#begin(workers, admin, scenario, size))
      await this.#measureInTurns(all, workers, shared, deadline)
      for (const run of all) await this.#tearDown(workers, admin, run)
    }
    for (const [i, scenario] of separate.entries()) {
      const now = performance.now()
      if (!this.#fits({ scenario, size }, deadline)) continue
      const run = await this.#begin(workers, admin, scenario, size)
      await this.#measureInTurns([run], workers, now + (ends - now) / (separate.length - i), deadline)
      await this.#tearDown(workers, admin, run)
    }
  }

  #fits(task: Task, deadline: number): boolean {
    return task.scenario.isPrimary === true || this.#estimator.estimateTask(task, 1) < deadline - performance.now()
  }

  async #begin(workers: Workers, admin: Client, scenario: Scenario, size: number): Promise<ScenarioRun> {
    const run = await this.#setUp(workers, admin, scenario, size)
    this.measurements.push(run.measurement)
    return run
  }

  /** Measures each scenario in each round, in a new random order, so that drift of the machine affects all of them. */
  async #measureInTurns(all: readonly ScenarioRun[], workers: Workers, ends: number, deadline: number): Promise<void> {
    const begins = performance.now()
    const counting = (ends - begins) * COUNTED.share
    const fits = ({ task, lastStepMs }: ScenarioRun, until: number) =>
      performance.now() + (lastStepMs ?? this.#estimator.estimate('step', task)) < until
    for (const [i, run] of shuffle(all, this.#random).entries()) {
      const until = begins + (counting * (i + 1)) / all.length
      this.#show(run, 'counting')
      const reconcile = await startReconciliation(this.#wireCountsOf(workers))
      for (let done = 0; done < COUNTED.most; done++) {
        if (done > 0 && !fits(run, done < COUNTED.least ? ends : until)) break
        this.#stop.signal.throwIfAborted()
        await this.#timed('step', run.task, () => run.count())
      }
      run.measurement.bothSides = await reconcile()
    }
    const { onlyCounted = false } = this.#options
    const fast = onlyCounted ? [] : all.filter(({ task }) => task.scenario.isSlow !== true)
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, run] of shuffle(fast, this.#random).entries()) {
        this.#stop.signal.throwIfAborted()
        // The first round may last until the deadline, because a scenario without it would have no times.
        if (!fits(run, round === 0 ? deadline : ends)) continue
        const now = performance.now()
        const slices = (ROUNDS - round) * fast.length - i
        const until = now + (ends - now) / slices
        this.#show(run, `round ${round + 1} of ${ROUNDS}`)
        const isAnotherDue = (done: number, ms: number) =>
          done < TIMED.most && performance.now() + ms / done < until && !this.#stop.signal.aborted
        await run.time(isAnotherDue)
      }
  }

  #wireCountsOf(workers: Workers): WireCounters {
    return {
      clients: async () => totalTraffic([await workers.traffic(), this.#setUpFrames.traffic]),
      server: () => this.#server.wireCounts(),
    }
  }

  async #timed(activity: Activity, task: Task, act: () => Promise<void>): Promise<void> {
    const begun = performance.now()
    await act()
    this.#estimator.record(activity, task, performance.now() - begun)
  }

  #show({ measurement }: ScenarioRun, activity: string): void {
    this.#progress.show(`${measurement.scenario}, ${measurement.size} sessions: ${activity}`)
  }

  async #setUp(workers: Workers, admin: Client, scenario: Scenario, size: number): Promise<ScenarioRun> {
    // All directories have paths of the same length, because paths are part of the counted bytes.
    const directory = `${this.#root}/${String(++this.#directories).padStart(4, '0')}`
    await admin.create(directory)
    await scenario.setUp?.(admin, directory)
    const { cpuSeconds: serverCpuSeconds } = this.#server
    const run = new ScenarioRun(scenario, size, { workers, directory, serverCpuSeconds })
    this.#show(run, 'gathering')
    await this.#timed('gather', run.task, async () => {
      await workers.assemble(scenario, directory, size)
      await run.gather()
    })
    return run
  }

  async #tearDown(workers: Workers, admin: Client, run: ScenarioRun): Promise<void> {
    this.#show(run, 'leaving')
    await this.#timed('leave', run.task, async () => {
      await workers.tearDown(run.directory)
      await admin.deleteRecursive(run.directory)
    })
  }

  async #cleanUp(admin: Client | undefined): Promise<void> {
    const isAborted = this.#stop.signal.aborted
    const timeout = CLEAN_UP_TIMEOUT[this.#server.kind === 'given' ? 'given' : 'own']
    await this.#workers?.close(isAborted ? timeout : CLOSE_TIMEOUT)
    if (admin === undefined) return
    const clean = async () => {
      await admin.deleteRecursive(this.#root)
      await admin.close()
    }
    if (!isAborted) return clean()
    let timer: NodeJS.Timeout | undefined
    await Promise.race([clean().catch(() => undefined), new Promise(resolve => (timer = setTimeout(resolve, timeout)))])
    clearTimeout(timer)
  }
}
