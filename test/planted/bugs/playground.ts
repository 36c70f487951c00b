// Bugs of the playground's page.
import type { PlantedBug } from '../planted-bug.ts'

const flight = { file: 'site/playground/scene/flight.ts', caughtBy: 'test/site/playground/flight.test.ts' }
const layout = { file: 'site/playground/scene/layout.ts', caughtBy: 'test/site/playground/layout.test.ts' }
const pace = { file: 'site/playground/model/pace.ts', caughtBy: 'test/site/playground/pace.test.ts' }
const costs = { file: 'site/playground/model/costs.ts', caughtBy: 'test/site/playground/costs.test.ts' }
const model = { file: 'site/playground/model/playground.ts', caughtBy: 'test/site/playground/playground.test.ts' }

export const playgroundBugs: readonly PlantedBug[] = [
  {
    ...flight,
    bug: 'frames that were sent in one instant hide each other on the stage',
    from: 'whole, ahead - spacing)',
    to: 'whole, ahead)',
  },
  {
    ...flight,
    bug: 'requests and answers fly on the same side of the wire',
    from: "direction === 'up' ? wire : { from: wire.to, to: wire.from }",
    to: 'wire.from ? wire : { from: wire.to, to: wire.from }',
  },
  {
    ...layout,
    bug: 'sixty clients overlap on a phone',
    from: '/ Math.max(1, clients) - TOKEN.gap',
    to: '/ 12 - TOKEN.gap',
  },
  {
    ...pace,
    bug: 'at the highest speed a frame passes between two drawings',
    from: ', shortest / DRAWINGS)',
    to: ', shortest * DRAWINGS)',
  },
  {
    ...costs,
    bug: 'a release that still causes frames makes a point of the plot',
    from: ' && isOver)',
    to: ')',
  },
  {
    ...model,
    bug: 'the lesson goes on in a scenario that the reader has started',
    from: '    this.#lessons.leave()\n    return this.#work.do(async () => this.#replace(await World.open(scenario)))',
    to: '    return this.#work.do(async () => this.#replace(await World.open(scenario)))',
  },
  {
    file: 'site/playground/model/sight.ts',
    caughtBy: 'test/site/playground/playground.test.ts',
    bug: 'the page leaps over the start of a frame while nothing flies',
    from: ' && this.#world.frames.length === sent) await',
    to: ') await',
  },
]
