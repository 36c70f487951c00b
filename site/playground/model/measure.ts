// Tries one release of a recipe in a world of its own.
import { isActive } from '../../world/picture.ts'
import type { RecipeId, Scenario } from '../../world/story.ts'
import { World } from '../../world/world.ts'
import { costsOf, type Cost } from './costs.ts'

/** The numbers of clients that one button tries. */
export const SIZES = [2, 5, 10, 20, 30, 40, 50, 60] as const

/** True if a release of the recipe lets another client in: bare clients hold nothing, and in a double barrier none waits. */
export const isMeasurable = (recipe: RecipeId): boolean => recipe !== 'bare-clients' && recipe !== 'double-barrier'

/** Returns the cost of the first release of a scenario. Returns an empty array if it has no holder, or none waits. */
export async function costOfRelease(scenario: Scenario): Promise<Cost[]> {
  const world = await World.open(scenario)
  try {
    await world.settle()
    const holder = world.picture().clients.find(({ role }) => isActive(role))
    if (holder === undefined) return []
    await world.act({ kind: 'release', client: holder.id })
    await world.settle()
    return costsOf(world.picture(), true)
  } finally {
    await world.close()
  }
}
