import { expect } from 'chai'
import type { Cell, CountedStep } from '../../bench/fan-out.ts'
import { Progress } from '../../bench/progress.ts'
import { recipes } from '../../bench/recipes.ts'
import { reportOf, type Machine } from '../../bench/report.ts'
import { Run } from '../../bench/run.ts'
import { aboutOf, type Server } from '../../bench/server.ts'
import { growthOf, summaryOf } from '../../bench/summary.ts'
import { tableOf } from '../../bench/table.ts'
import { connect } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'

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
    run = new Run({ contenders: [5, 10], recipes: [...recipes], seconds: 2 }, given, silent, new AbortController())
    await run.measure()
  })

  it('measures each recipe with each number of contenders, at least three times', () => {
    expect(run.cells.map(({ recipe, contenders }) => `${recipe} ${contenders}`)).to.have.members(
      recipes.flatMap(({ name }) => [`${name} 5`, `${name} 10`]),
    )
    for (const { counted, timed } of run.cells) {
      expect(counted.length).to.be.at.least(3)
      expect(timed.length).to.be.at.least(3)
    }
  })

  it('finds that every step causes the same, to the byte, and that the timed ones move as many frames', () => {
    for (const cell of run.cells) {
      for (const step of cell.counted) expect(step).to.deep.equal(cell.counted[0])
      expect(cell.asExpected, `${cell.recipe} ${cell.contenders}`).to.equal(true)
    }
  })

  it('finds that a Mutex wakes one waiter on a release, who lists once, and none on a join', () => {
    for (const { release, join } of stepsOf('mutex')) {
      // Sent: delete, getChildren. Received: their answers, and the event.
      expect(release).to.include({ notifications: 1, framesSent: 2, framesReceived: 3 })
      // create and getChildren at once, then getData with a watch on the predecessor.
      expect(join).to.include({ notifications: 0, framesSent: 3, framesReceived: 3 })
    }
  })

  it('finds that a HerdMutex wakes every waiter on a release and on a join, and each of them lists', () => {
    for (const { contenders, release, join } of stepsOf('herd')) {
      const waiters = contenders - 1
      // Sent: delete, a getChildren of each waiter, and the removeWatches of the one who now holds the lock.
      expect(release).to.include({ notifications: waiters, framesSent: waiters + 2, framesReceived: 2 * waiters + 2 })
      // The one who joins is no waiter yet when its node appears, nor is the holder any more: it has taken its watch
      // back.
      const others = waiters - 1
      expect(join).to.include({ notifications: others, framesSent: others + 2, framesReceived: 2 * others + 2 })
    }
  })

  it('finds one more name in the list for one more contender', () => {
    const read = (contenders: number) =>
      stepsOf('mutex').find(each => each.contenders === contenders)?.release.bytesReceived
    // Its length, then '_c_', a uuid, '-lock-' and ten digits.
    const name = 4 + 3 + 36 + 6 + 10
    // The directory is called mutex-10 and not mutex-5, which the event tells in full: one byte more.
    expect((read(10) ?? NaN) - (read(5) ?? NaN)).to.equal(5 * name + 1)
  })

  it('leaves nothing behind', async () => {
    const after = await tracesOn(zooKeeper)
    expect(after.nodes).to.deep.equal(traces.nodes)
    expect(after.watches).to.be.at.most(traces.watches)
  })

  it('makes a table, and a report that keeps every step and what is needed to judge it', () => {
    const summaries = run.cells.map(summaryOf)
    const growth = recipes.map(recipe => growthOf(recipe, summaries))
    expect(tableOf(summaries, growth).match(/^mutex +10 +1 +5 /m), 'the row of mutex 10').not.to.equal(null)
    const { fences, pings, handshakes } = run.meter
    const findings = { cells: run.cells, growth, server: given, seconds: 1, apart: { fences, pings, handshakes } }
    const report = JSON.parse(JSON.stringify(reportOf(findings, ['--seconds', '2'], machine, new Date(0)))) as Report
    expect(report).to.include({ date: '1970-01-01T00:00:00.000Z', commandLine: 'npm start -- --seconds 2' })
    expect(report.machine).to.deep.equal(machine)
    expect(report.server.version).to.match(/^\d+\.\d+/)
    expect(report.cells.map(({ steps }) => steps)).to.deep.equal(
      run.cells.map(({ counted, timed }) => ({ counted, timed })),
    )
    expect(report.apart.fences.framesSent).to.be.above(0)
  })

  it('leaves nothing behind when it is ended early, and keeps what it has', async () => {
    const stop = new AbortController()
    const screen = {
      isTTY: true,
      write: (text: string) => {
        if (text.includes('timing') && early.cells.length > 0) stop.abort(new Error('enough'))
      },
    }
    const options = { contenders: [10], recipes: recipes.slice(0, 1), seconds: 600 }
    const early = new Run(options, given, new Progress(screen), stop)
    const error: unknown = await early.measure().catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'enough')
    expect(early.cells[0]?.counted).not.to.have.length(0)
    const after = await tracesOn(zooKeeper)
    expect(after.nodes).to.deep.equal(traces.nodes)
    expect(after.watches).to.be.at.most(traces.watches)
  })

  function stepsOf(recipe: string): (CountedStep & { contenders: number })[] {
    return run.cells
      .filter(cell => cell.recipe === recipe)
      .flatMap(({ contenders, counted }) => counted.map(step => ({ contenders, ...step })))
  }
})

const silent = new Progress({ write: () => undefined })

const machine: Machine = { cpu: 'abacus', cores: 1, memoryBytes: 10, platform: 'table', node: 'v0' }

interface Report {
  date: string
  machine: Machine
  server: { version: string }
  cells: { steps: Pick<Cell, 'counted' | 'timed'> }[]
  apart: { fences: { framesSent: number } }
}

interface Traces {
  watches: number
  nodes: string[]
}

async function asGiven(server: ApacheZooKeeper): Promise<Server> {
  return {
    ...aboutOf(await server.command('srvr')),
    servers: server.connectString,
    isOurs: false,
    cpuSeconds: () => server.cpuSeconds(),
    close: () => Promise.resolve(),
  }
}

async function tracesOn(server: ApacheZooKeeper): Promise<Traces> {
  await using client = await connect(server.connectString)
  const { children } = await client.getChildren('/')
  return { watches: await server.watchCount(), nodes: children.sort() }
}
