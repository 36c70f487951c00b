// `zkwire lock` in a terminal under random faults: keys, signals to any process of its tree, outages, a closed terminal.
// The invariant: no line of its program's processes after the first line of the next holder. A failure prints the seed:
// SEED=… NEMESES=1.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { oneOf, seed, seededRandom, type Random } from '../../support/seeded-random.ts'
import { commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { main } from './program.ts'
import { descendants, leaders, Rivals } from './rivals.ts'
import { installTmux, Tmux } from './tmux.ts'

const RUNS = Number(process.env['NEMESES'] ?? 4)
/** The session timeout of zkwire, in seconds. */
const T = 2
/** The longest time between two faults, ms. */
const LONGEST_PAUSE = 1500

/** What a fault may do. */
interface Victim {
  readonly tmux: Tmux
  readonly server: Server
  readonly rivals: Rivals
  readonly random: Random
}

const pidsOf = ({ rivals }: Victim, text: string): number[] => rivals.pids.filter(pid => commandOf(pid).includes(text))
const zkwires = (victim: Victim) => pidsOf(victim, `${main} `)
const watchdogs = (victim: Victim) => pidsOf(victim, 'watchdog-main')

const send = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
}

/** The faults, after any of which zkwire and its watchdog can still do their work, or one of them. */
const faults: Readonly<Record<string, (victim: Victim) => Promise<void> | void>> = {
  'Ctrl-S': ({ tmux }) => tmux.press('C-s'),
  'Ctrl-Q': ({ tmux }) => tmux.press('C-q'),
  'Ctrl-C': ({ tmux }) => tmux.press('C-c'),
  'Ctrl-Z and fg': async ({ tmux, random }) => {
    await tmux.press('C-z')
    await sleep(random() * 2 * LONGEST_PAUSE)
    await tmux.line('fg')
  },
  'SIGTERM to zkwire': victim => send(zkwires(victim), 'SIGTERM'),
  'SIGHUP to zkwire': victim => send(zkwires(victim), 'SIGHUP'),
  'SIGSTOP and SIGCONT to zkwire': async victim => {
    send(zkwires(victim), 'SIGSTOP')
    await sleep(victim.random() * 2 * LONGEST_PAUSE)
    send(zkwires(victim), 'SIGCONT')
  },
  'SIGKILL to the watchdog': async victim => {
    const old = watchdogs(victim)
    send(old, 'SIGKILL')
    await until(() => zkwires(victim).length === 0 || watchdogs(victim).some(pid => !old.includes(pid)))
  },
  'SIGSTOP and SIGCONT to the watchdog': async victim => {
    send(watchdogs(victim), 'SIGSTOP')
    await sleep(victim.random() * 2 * LONGEST_PAUSE)
    send(watchdogs(victim), 'SIGCONT')
  },
  'SIGKILL to a process of the program': ({ rivals, random }) => {
    const { programs } = rivals
    if (programs.length > 0) send([oneOf(random, programs)], 'SIGKILL')
  },
  'SIGSTOP to a process of the program': ({ rivals, random }) => {
    const { programs } = rivals
    if (programs.length > 0) send([oneOf(random, programs)], 'SIGSTOP')
  },
  'an outage': async ({ server, random }) => {
    await server.stop()
    await sleep(random() * 2 * LONGEST_PAUSE)
    await server.start()
  },
}

/** What ends the program at the latest. */
const ends: typeof faults = {
  'SIGKILL to zkwire': victim => send(zkwires(victim), 'SIGKILL'),
  'a closed terminal, and SIGKILL to zkwire': async victim => {
    await victim.tmux[Symbol.asyncDispose]()
    send(zkwires(victim), 'SIGKILL')
  },
  'an outage for longer than the session timeout': async ({ server, rivals }) => {
    await server.stop()
    await until(() => rivals.programs.length === 0)
    await server.start()
  },
  'SIGSTOP to zkwire': victim => send(zkwires(victim), 'SIGSTOP'),
  'SIGKILL to all processes of the program': ({ rivals }) =>
    until(() => {
      // Again each time, because a process may start another one between the list and its signal.
      send(rivals.programs, 'SIGKILL')
      return rivals.programs.length === 0
    }),
}

async function run(number: number, trace: string[]): Promise<void> {
  const random = seededRandom(number)
  const server = await Server.start({ tickTime: 500 })
  const zk = await connect(server.connectString)
  using rivals = new Rivals()
  const script = `${Object.values(descendants).join('\n')}\n${oneOf(random, Object.values(leaders))}`
  const tmux = await Tmux.start({ ...rivals.env, SCRIPT: script, ZKWIRE_SERVER: server.connectString })
  const victim = { tmux, server, rivals, random }
  const startedAt = performance.now()
  const inflict = async (all: typeof faults) => {
    const [name, fault] = oneOf(random, Object.entries(all))
    trace.push(`${Math.round(performance.now() - startedAt)} ms: ${name}`)
    await fault(victim)
  }
  try {
    const options = `/lock --timeout ${T} --grace ${oneOf(random, ['0', '0.3', '0.6'])}`
    await tmux.line(`${process.execPath} ${main} lock ${options} -- sh -c 'eval "$SCRIPT"'`)
    // Sometimes before everything has started.
    const isEarly = random() >= 0.7
    if (!isEarly) await rivals.hasLinesOf('child', 'timed', 'job', 'orphan')
    else await until(() => rivals.programs.length > 0)
    for (let count = Math.floor(random() * 5); count > 0; count--) {
      await inflict(faults)
      await sleep(random() * LONGEST_PAUSE)
    }
    await inflict(ends)
    await rivals.succeed(zk, '/lock', isEarly)
  } finally {
    rivals.kill(() => true)
    await zk.close()
    await server.close()
  }
}

describe(`zkwire lock under ${RUNS} random nemeses (SEED=${seed})`, function () {
  this.timeout(RUNS * 60_000)
  before(installTmux)

  for (let i = 0; i < RUNS; i++)
    it(`lets no process of its program write after the next holder, with seed ${seed + i}`, async () => {
      const trace: string[] = []
      await run(seed + i, trace).catch((error: unknown) => {
        throw new Error(`SEED=${seed + i} NEMESES=1\n${trace.join('\n')}`, { cause: error })
      })
    })
})
