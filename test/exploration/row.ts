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
  /** The number of states after which it stops; undefined if it goes on to the end. */
  readonly mostStates: number | undefined
}

const parent = process.ppid
process.on('message', ({ nth, mostStates }: Task) => void run(explorations[nth] as Bound, mostStates))

async function run(exploration: Bound, mostStates = Infinity): Promise<void> {
  const before = process.cpuUsage()
  let told = performance.now()
  const { failure, schedules, states, longest, steps, isWhole } = await explore(exploration, {
    onState({ states }) {
      if (performance.now() - told > 1000) {
        told = performance.now()
        // The explorer leaves the event loop no turn, in which this process would learn that main.ts was killed.
        if (process.ppid !== parent) process.exit(1)
        send({ states })
      }
      return states >= mostStates
    },
  })
  const { user, system } = process.cpuUsage(before)
  if (failure !== undefined) send({ failed: tell(exploration, await minimised(exploration, failure.schedule)) })
  else send({ result: { schedules, states, longest, steps, cpu: (user + system) / 1e6, isWhole } })
}

const send = (message: Message) => process.send?.(message)
