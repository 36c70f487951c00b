// The long run of test/ensemble/lease.test.ts. Cuts servers off from each other while sessions hold locks through them, and
// counts how often two clients believe to hold the same lock. First CUTS (default 2000) cuts on embedded servers in virtual
// time, then cuts on Apache's servers for MINUTES (default 10), on each installation of ZOOKEEPER_HOMES at the same time.
// SEED determines the cuts. ASKS_LEADER=false is the control. The exit code is 1 if there were two holders.
import { basename } from 'node:path'
import { cutOnce, kindOf, tableOf, type Outcome } from '../ensemble/lease-schedule.ts'
import { ApacheStage, VirtualStage } from '../ensemble/lease-stages.ts'
import { distribution } from '../../environment/find-apache-zookeeper.ts'
import { Ensemble } from '../../environment/ensemble.ts'
import { oneOf, seededRandom, seedOf, type Random } from '../support/seeded-random.ts'

const cuts = Number(process.env['CUTS'] ?? 2000)
const minutes = Number(process.env['MINUTES'] ?? 10)
const seed = seedOf(process.env['SEED'] ?? 'random')
const homes = (process.env['ZOOKEEPER_HOMES'] ?? '').split(':').filter(home => home !== '')
const asksLeader = process.env['ASKS_LEADER'] !== 'false'
const LOCKS = 12
const CUTS_OF_AN_ENSEMBLE = 5

console.log(`SEED=${seed} CUTS=${cuts} MINUTES=${minutes} ASKS_LEADER=${asksLeader}`)
const until = performance.now() + minutes * 60_000
const all = [report('embedded', await inVirtualTime())]
const apache = homes.length === 0 ? [undefined] : homes
if (minutes > 0) all.push(...(await Promise.all(apache.map((home, i) => onApache(home, seed + 1000 * i)))))
process.exitCode = all.flat().some(({ overlap }) => overlap > 0) ? 1 : 0

function report(name: string, outcomes: readonly Outcome[]): readonly Outcome[] {
  console.log(`\n${name}: ${outcomes.length / LOCKS} cuts\n${tableOf(outcomes)}`)
  return outcomes
}

/** Draws the ensemble and the session timeouts: 2 to 20 ticks, 4 to 30 s, most of them short. */
function drawn(random: Random): { tick: number; syncLimit: number; timeouts: () => number[] } {
  const tick = oneOf(random, [500, 1000, 2000])
  const syncLimit = 2 + Math.floor(random() * 11)
  const [shortest, longest] = [Math.max(4000, 2 * tick), Math.min(30_000, 20 * tick)]
  return {
    ...{ tick, syncLimit },
    timeouts: () => {
      const most = shortest * (longest / shortest) ** random()
      return Array.from({ length: LOCKS }, () => Math.round(shortest + random() * (most - shortest)))
    },
  }
}

async function inVirtualTime(): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let i = 0; outcomes.length < cuts * LOCKS; i++) {
    const random = seededRandom(seed + i)
    const { tick, syncLimit, timeouts } = drawn(random)
    const stage = await VirtualStage.start(tick, syncLimit)
    for (let k = 0; k < CUTS_OF_AN_ENSEMBLE; k++)
      outcomes.push(
        ...(await cutOnce(stage, { random, tick, syncLimit, timeouts: timeouts(), asksLeader, name: `lock-${k}` })),
      )
    await stage.close()
  }
  return outcomes
}

async function onApache(home: string | undefined, start: number): Promise<readonly Outcome[]> {
  const name = home === undefined ? "Apache's" : basename(home)
  const outcomes: Outcome[] = []
  for (let i = 0; performance.now() < until; i++) {
    const random = seededRandom(start + i)
    const { tick, syncLimit, timeouts } = drawn(random)
    const config = { tickTime: tick, syncLimit, minSessionTimeout: 2 * tick, maxSessionTimeout: 60_000 }
    const classPath = home === undefined ? undefined : distribution(home)
    const stage = new ApacheStage(await Ensemble.start({ linked: true, config, classPath }))
    for (let k = 0; k < CUTS_OF_AN_ENSEMBLE && performance.now() < until; k++) {
      const schedule = { random, tick, syncLimit, timeouts: timeouts(), asksLeader, name: `lock-${k}` }
      const some = await cutOnce(stage, schedule)
      outcomes.push(...some)
      const overlaps = some.filter(({ overlap }) => overlap > 0)
      const kept = some.filter(({ isKept }) => isKept).length
      const of = `tick ${tick}, syncLimit ${syncLimit}, ${kindOf(some[0] as Outcome)}`
      console.log(`${name}: ${of}: ${kept} of ${some.length} kept, ${overlaps.length} with two holders`)
      for (const outcome of overlaps) console.log(JSON.stringify(outcome))
    }
    await stage.close()
  }
  return report(name, outcomes)
}
