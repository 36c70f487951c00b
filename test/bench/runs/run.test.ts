import { expect } from 'chai'
import type { Measurement, PhaseRun } from '../../../bench/measure/measurement.ts'
import type { Options } from '../../../bench/options.ts'
import { Progress } from '../../../bench/output/progress.ts'
import { resultOf, type Machine, type Result } from '../../../bench/output/result.ts'
import { Run, type RunOptions } from '../../../bench/harness/run.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import { parseSrvr, type Server } from '../../../bench/harness/server.ts'
import { tableOf } from '../../../bench/output/table.ts'
import { noCounts, type Counts } from '../../../bench/measure/frame-counter.ts'
import { connect } from '../../../src/index.ts'
import type { ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { sharedServer } from '../../support/shared-server.ts'

const SIZES = [5, 10]
const quick = scenarios.filter(({ isSlow }) => isSlow !== true)
const varying = scenarios.filter(scenario => scenario.variesBecause !== undefined).map(({ name }) => name)

describe('a run of the benchmark on a real server', function () {
  this.timeout(60_000)

  let zooKeeper: ApacheZooKeeper
  let given: Server
  let run: Run
  let traces: Traces

  before(async () => {
    zooKeeper = await sharedServer()
    given = await asGiven(zooKeeper)
    traces = await tracesOn(zooKeeper)
    run = new Run(options({ scenarios: quick }), given, silent, new AbortController())
    await run.measure()
  })

  it('measures each scenario with each number of sessions', () => {
    expect(run.measurements.map(({ scenario, size }) => `${scenario} ${size}`)).to.have.members(
      quick.flatMap(({ name }) => [`${name} 5`, `${name} 10`]),
    )
    for (const cell of run.measurements) expect(stepsOf(cell).length, cell.scenario).to.be.at.least(1)
  })

  it('counts the same traffic in every step, to the byte, and the same number of frames in timed steps', () => {
    for (const cell of run.measurements.filter(({ scenario }) => !varying.includes(scenario))) {
      const steps = stepsOf(cell)
      for (const step of steps) expect(step, `${cell.scenario} ${cell.size}`).to.deep.equal(steps[0])
      if (cell.timed.length > 0) expect(cell.asExpected, `${cell.scenario} ${cell.size}`).to.equal(true)
    }
  })

  it('counts the same traffic in another run, to the byte', async () => {
    const others = ['mutex', 'herd', 'ticket', 'data']
    const chosen = scenarios.filter(({ name }) => others.includes(name))
    const again = new Run(options({ scenarios: chosen, sizes: [5] }), given, silent, new AbortController())
    await again.measure()
    expect(again.measurements).to.have.length(others.length)
    for (const cell of again.measurements) {
      const first = run.measurements.find(({ scenario, size }) => scenario === cell.scenario && size === cell.size)
      expect(stepsOf(cell)[0], cell.scenario).to.deep.equal(first && stepsOf(first)[0])
    }
  })

  it('counts one notification and one list on a release of a textbook Mutex, and no notification on a join', () => {
    for (const { step } of found('mutex')) {
      // Sent: delete, getChildren. Received: their replies, and the event.
      expect(step['release']).to.include({ notifications: 1, framesSent: 2, framesReceived: 3 })
      // create and getChildren at once, then getData with a watch on the predecessor.
      expect(step['join']).to.include({ notifications: 0, framesSent: 3, framesReceived: 3 })
    }
  })

  it('counts two notifications more, but no request more, on a release of a Mutex that looks ahead', () => {
    for (const { step } of found('look-ahead')) {
      // Sent: delete, and the getChildren of the waiter behind the next holder. Events: of these two waiters, and of the
      // former holder, which watches its own node.
      expect(step['release']).to.include({ notifications: 3, framesSent: 2, framesReceived: 5 })
      // create and getChildren at once, then setWatches for two nodes, and getData with a watch on the predecessor.
      expect(step['join']).to.include({ notifications: 0, framesSent: 4, framesReceived: 4 })
    }
  })

  it('counts a notification of each waiter of a HerdMutex, and a list from it, on a release and on a join', () => {
    for (const { size, step } of found('herd')) {
      const waiters = size - 1
      // Sent: delete, a getChildren of each waiter, and the removeWatches of the new holder.
      expect(step['release']).to.include({
        notifications: waiters,
        framesSent: waiters + 2,
        framesReceived: 2 * waiters + 2,
      })
      // The joining session does not watch yet when its node appears, and the holder has removed its watch.
      const others = waiters - 1
      expect(step['join']).to.include({ notifications: others, framesSent: others + 2, framesReceived: 2 * others + 2 })
    }
  })

  it('counts a notification of each waiter of an EphemeralMutex on a release, and none on a join', () => {
    for (const { size, step } of found('ephemeral')) {
      expect(step['release']).to.include({ notifications: size - 1 })
      expect(step['join']).to.include({ notifications: 0 })
    }
  })

  it('counts as many bytes for a TicketMutex with ten contenders as with five', () => {
    const [five, ten] = found('ticket').map(({ step }) => step['release'])
    // Of the next holder, of the waiter behind it, and of the former holder.
    expect(five).to.include({ notifications: 3 })
    expect(ten).to.deep.equal(five)
  })

  it('counts one queued node for each session of a ReentrantMutex, because its other contenders wait in the process', async () => {
    for (const { step } of found('reentrant')) expect(step['join']).to.include({ framesSent: 4, framesReceived: 4 })
    const chosen = scenarios.filter(({ name }) => name === 'reentrant')
    const many = new Run(options({ scenarios: chosen, sizes: [30] }), given, silent, new AbortController())
    await many.measure()
    for (const step of many.measurements.flatMap(stepsOf)) expect(step['join']).to.deep.equal(noCounts())
  })

  it('counts one list for each reader that a writer admits', () => {
    for (const name of ['readers', 'rw-herd'])
      for (const { size, step } of found(name)) expect(step['let in']).to.include({ notifications: size })
    for (const { size, step } of found('readers')) {
      // Sent: delete, and a getChildren of each reader. Later readers notify none of them.
      expect(step['let in']).to.include({ framesSent: 1 + size, framesReceived: 1 + 2 * size })
      expect(step['return']).to.include({ notifications: 0, framesSent: 3 * size, framesReceived: 3 * size })
    }
  })

  it('counts one more name in the list for one more contender', () => {
    const [five, ten] = found('mutex').map(({ step }) => step['release']?.bytesReceived ?? NaN)
    // A name is its length, '_c_', a uuid, '-lock-' and ten digits.
    const name = 4 + 3 + 36 + 6 + 10
    expect((ten ?? NaN) - (five ?? NaN)).to.equal(5 * name)
  })

  it('counts one notification for each watching session, and a read unless the watch is persistent', () => {
    for (const [name, phase, reads] of [
      ['data', 'change', 1],
      ['child', 'appear', 1],
      ['child', 'vanish', 1],
      ['recursive', 'change', 0],
    ] as const)
      for (const { size, step } of found(name))
        expect(step[phase], name).to.include({
          notifications: size,
          framesSent: 1 + reads * size,
          framesReceived: 1 + size + reads * size,
        })
  })

  it('counts a handshake and one setWatches for each lost connection', () => {
    for (const { size, step } of found('reconnect'))
      expect(step['reconnect']).to.include({ notifications: 0, framesSent: 2 * size, framesReceived: 2 * size })
  })

  it('counts one event for each expired session, and a new node for each replacement', async () => {
    const expiring = options({ scenarios: scenarios.filter(({ name }) => name === 'expire'), sizes: [5] })
    const run = new Run(expiring, given, silent, new AbortController())
    await run.measure()
    const [cell] = run.measurements
    const [step] = cell === undefined ? [] : stepsOf(cell)
    expect(step?.['expire']).to.include({ notifications: 5, framesSent: 0 })
    expect(step?.['return']).to.include({ notifications: 5 })
  })

  it('records a mark with a time for each session', () => {
    for (const { scenario, size, timed } of run.measurements)
      for (const { steps } of timed)
        for (const step of steps) {
          const [first] = Object.values(step) as [PhaseRun]
          expect(first.marks, scenario).to.have.length(first.marks.length === 1 ? 1 : size)
          for (const ms of first.marks) expect(ms).to.be.within(0, 60_000)
          expect(first.marks).to.deep.equal(first.marks.toSorted((a, b) => a - b))
        }
  })

  it('leaves nothing behind', async () => {
    const after = await tracesOn(zooKeeper)
    expect(after.nodes).to.deep.equal(traces.nodes)
    expect(after.watches).to.be.at.most(traces.watches)
  })

  it('produces a table, and a result with the conditions of the run', () => {
    const findings = {
      measurements: run.measurements,
      traffic: run.traffic,
      server: given,
      seconds: 1,
      caveats: [],
      recordings: [],
    }
    const made = resultOf(findings, options({ scenarios: quick }), ['--seconds', '2'], machine, new Date(0))
    expect(tableOf(made.cells, made.growth, 2)).to.match(/^mutex +10 +release +1 +5 /m)
    const result = JSON.parse(JSON.stringify(made)) as Result
    expect(result).to.include({ date: '1970-01-01T00:00:00.000Z', commandLine: 'npm start -- --seconds 2', seed: 1 })
    expect(result.machine).to.deep.equal(machine)
    expect(result.server.version).to.match(/^\d+\.\d+/)
    expect(result.cells.map(({ counted }) => counted)).to.deep.equal(run.measurements.map(stepsOf))
    expect(result.traffic.fences.framesSent).to.be.above(0)
    expect(result.growth.find(({ scenario }) => scenario === 'ticket')?.bytes?.exponent).to.equal(0)
  })

  it('leaves nothing behind if aborted, and keeps the measurements so far', async () => {
    const stop = new AbortController()
    const screen = {
      isTTY: true,
      write: (text: string) => {
        if (text.includes('round 2')) stop.abort(new Error('enough'))
      },
    }
    const endless = options({ scenarios: scenarios.filter(({ name }) => name === 'mutex'), sizes: [10], seconds: 20 })
    const early = new Run(endless, given, new Progress(screen), stop)
    const error: unknown = await early.measure().catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'enough')
    expect(early.measurements[0]?.counted).not.to.have.length(0)
    const after = await tracesOn(zooKeeper)
    expect(after.nodes).to.deep.equal(traces.nodes)
    expect(after.watches).to.be.at.most(traces.watches)
  })

  /** Returns the first counted step of each size, by phase. */
  function found(name: string): { size: number; step: Record<string, Counts | undefined> }[] {
    return run.measurements
      .filter(({ scenario }) => scenario === name)
      .map(cell => ({ size: cell.size, step: stepsOf(cell)[0] ?? {} }))
      .sort((a, b) => a.size - b.size)
  }
})

/** Options with enough time that a busy machine skips nothing. */
const options = (some: Partial<Options>): RunOptions => ({
  // So that no measurement is skipped on a busy machine.
  overtime: 1000,
  ...{ sizes: SIZES, scenarios: [], seconds: 1, seed: 1, threads: 2, all: false },
  ...some,
})

/** Returns the counts of each counted step, by phase. */
const stepsOf = ({ counted }: Measurement): Record<string, Counts | undefined>[] =>
  counted.flatMap(({ steps }) =>
    steps.map(step => Object.fromEntries(Object.entries(step).map(([phase, { counts }]) => [phase, counts]))),
  )

const silent = new Progress({ write: () => undefined })

const machine: Machine = { cpu: 'abacus', cores: 1, memoryBytes: 10, platform: 'table', node: 'v0' }

interface Traces {
  watches: number
  nodes: string[]
}

async function asGiven(server: ApacheZooKeeper): Promise<Server> {
  return {
    ...parseSrvr(await server.command('srvr')),
    servers: server.connectString,
    kind: 'given',
    pids: [],
    cpuSeconds: () => server.cpuSeconds(),
    wireCounts: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  }
}

async function tracesOn(server: ApacheZooKeeper): Promise<Traces> {
  await using client = await connect(server.connectString)
  const { children } = await client.getChildren('/')
  return { watches: await server.watchCount(), nodes: children.sort() }
}
