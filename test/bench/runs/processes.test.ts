// The sessions of a run in several processes of this machine.
import { expect } from 'chai'
import { processUnits } from '../../../bench/fleet/processes.ts'
import { Run, type RunOptions } from '../../../bench/harness/run.ts'
import { serverFor, type Server } from '../../../bench/harness/server.ts'
import { Progress } from '../../../bench/output/progress.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import { connect } from '../../../src/index.ts'

const names = ['mutex', 'herd', 'data', 'reconnect']
const options: RunOptions = {
  ...{ sizes: [5], scenarios: scenarios.filter(({ name }) => names.includes(name)) },
  // So that no measurement is skipped on a busy machine.
  ...{ seconds: 1, overtime: 1000, seed: 1, threads: 2, all: false },
}
const silent = new Progress({ write: () => undefined })

describe('a run whose sessions are in several processes', function () {
  this.timeout(60_000)

  let server: Server
  before(async () => (server = await serverFor('embedded')))
  after(() => server.close())

  async function leftOnServer(): Promise<string[]> {
    await using client = await connect(server.servers)
    return (await client.getChildren('/')).children.filter(name => name.startsWith('zkwire-bench'))
  }

  it('counts the same traffic as one with threads, to the byte, and measures times', async () => {
    const [inThreads, inProcesses] = [options, { ...options, processes: 3, units: processUnits }].map(
      each => new Run(each, server, silent, new AbortController()),
    )
    await inThreads?.measure()
    await inProcesses?.measure()
    const countsIn = (run: Run | undefined) =>
      run?.measurements.map(({ scenario, counted }) => [
        scenario,
        Object.values(counted[0]?.steps[0] ?? {}).map(({ counts }) => counts),
      ])
    const byName = (run: Run | undefined) => new Map(countsIn(run) as [string, unknown][])
    expect(byName(inProcesses)).to.deep.equal(byName(inThreads))
    expect([...byName(inProcesses).keys()]).to.have.members(names)
    for (const { scenario, timed, asExpected, bothSides } of inProcesses?.measurements ?? []) {
      expect({ scenario, asExpected, agree: bothSides?.agree }).to.deep.equal({
        ...{ scenario, asExpected: true, agree: true },
      })
      const times = timed
        .flatMap(({ steps }) => steps)
        .flatMap(step => Object.values(step).flatMap(({ marks }) => marks))
      expect(times, scenario).not.to.be.empty.and.not.to.satisfy((all: number[]) =>
        all.some(ms => !(ms > 0 && ms < 60_000)),
      )
    }
    expect(await leftOnServer()).to.deep.equal([])
  })

  it('fails and names the process if one of them dies, and leaves no node', async () => {
    const stop = new AbortController()
    let victim = 0
    const units: typeof processUnits = (...args) =>
      processUnits(...args).map(start => owner => {
        const unit = start(owner)
        return {
          ...unit,
          send: message => {
            if (message.command === 'assemble' && victim === 0) {
              victim = unit.pid
              process.kill(victim, 'SIGKILL')
            }
            unit.send(message)
          },
        }
      })
    const run = new Run({ ...options, processes: 2, units }, server, silent, stop)
    const failure = await run.measure().then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    expect(failure?.message).to.equal(`process ${victim} with a part of the sessions has ended (SIGKILL)`)
    expect(await leftOnServer()).to.deep.equal([])
  })
})
