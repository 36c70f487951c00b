// A process that main.ts starts: explores the worlds that it is told, one after the other.
import { explorations, type Exploration } from './bounds.ts'
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

process.on('message', (nth: number) => void run(explorations[nth] as Exploration))

async function run(exploration: Exploration): Promise<void> {
  const { scenario, mostStates = Infinity } = exploration
  const before = process.cpuUsage()
  let told = performance.now()
  const { failure, schedules, states, longest, steps, isWhole } = await explore(scenario, exploration, {
    onState({ states }) {
      if (performance.now() - told > 1000) {
        told = performance.now()
        send({ states })
      }
      return states >= mostStates
    },
  })
  const { user, system } = process.cpuUsage(before)
  if (failure !== undefined)
    send({ failed: tell(scenario, exploration, await minimised(scenario, exploration, failure.schedule)) })
  else send({ result: { schedules, states, longest, steps, cpu: (user + system) / 1e6, isWhole } })
}

const send = (message: Message) => process.send?.(message)
