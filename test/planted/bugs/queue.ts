// Bugs of the queue of a lock: order, names, waiting.
import type { PlantedBug } from '../planted-bug.ts'

const turn = { file: 'src/recipes/queue/turn.ts', caughtBy: 'test/recipes/queue/turn.test.ts' }

export const queue: readonly PlantedBug[] = [
  {
    ...turn,
    bug: 'two contenders with the same sequence number hold the lock together',
    from: 'a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)',
    to: 'a.sequence < b.sequence',
  },
  {
    ...turn,
    bug: 'a contender waits for the first contender and not for its predecessor',
    from: 'isBefore(nearest, other)',
    to: 'isBefore(other, nearest)',
  },
  {
    ...turn,
    bug: 'a contender whose node is gone holds the lock',
    from: "if (!isPresent) return { status: 'gone' }",
    to: '',
  },
]
