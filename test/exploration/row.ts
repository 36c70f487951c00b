// A process that main.ts starts: explores one world.
import { explorations, type Bound } from './bounds.ts'
import { explore } from './explorer.ts'
import { minimised, tell } from './story.ts'

export interface Result {
  readonly schedules: number
  readonly states: number
  readonly longest: number
  readonly steps: number
  /** The seconds of processor time. */
  readonly cpu: number
  readonly isWhole: boolean
}

/** What this process sends: how far it is, or the end. */
export type Message =
  | { readonly states: number }
  | { readonly result: Result }
  /** The story of a schedule that fails. */
  | { readonly failed: string }

/** What main.ts sends to this process. */
export interface Task {
  /** The index of the exploration. */
  readonly nth: number
  /** The seconds of processor time after which it stops; undefined if it goes on to the end. */
  readonly seconds: number | undefined
}

const parent = process.ppid
process.on('message', ({ nth, seconds }: Task) => void run(explorations[nth] as Bound, seconds))

async function run(exploration: Bound, seconds = Infinity): Promise<void> {
  const before = process.cpuUsage()
  const cpu = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }
  let told = performance.now()
  const { failure, schedules, states, longest, steps, isWhole } = await explore(exploration, {
    onState({ states }) {
      if (performance.now() - told < 1000) return false
      told = performance.now()
      // The explorer leaves the event loop no turn, in which this process would learn that main.ts was killed.
      if (process.ppid !== parent) process.exit(1)
      send({ states })
      return cpu() > seconds
    },
  })
  if (failure !== undefined) send({ failed: tell(exploration, await minimised(exploration, failure.schedule)) })
  else send({ result: { schedules, states, longest, steps, cpu: cpu(), isWhole } })
}

const send = (message: Message) => process.send?.(message)
