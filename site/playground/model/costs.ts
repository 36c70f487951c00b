// What releases cost, by the number of clients: the points of the plot.
import type { Picture, ReleaseCost } from '../../world/picture.ts'
import type { RecipeId, Scenario } from '../../world/story.ts'

export interface Cost {
  /** The same for the same release of the same story. */
  id: string
  recipe: RecipeId
  clients: number
  servers: Scenario['servers']
  notifications: number
  frames: number
  bytes: number
  /** Undefined if no client held the lock afterwards. */
  ms: number | undefined
}

export const FIGURES = ['notifications', 'frames', 'bytes'] as const
export type Figure = (typeof FIGURES)[number]

/**
 * Returns the costs of the releases in a picture for which others waited.
 * @param isQuiet false if the last release still causes frames, so that its cost is not known yet
 */
export function costsOf({ story, releases }: Pick<Picture, 'story' | 'releases'>, isQuiet: boolean): Cost[] {
  const { recipe, servers, seed } = story.scenario
  return releases
    .map((release, i) => ({ release, isOver: isQuiet || i < releases.length - 1, i }))
    .filter(({ release, isOver }) => release.waiting > 0 && release.ms !== undefined && isOver)
    .map(({ release, i }) => ({
      id: `${recipe} ${release.waiting} ${servers} ${seed} ${i} ${release.at}`,
      recipe,
      clients: release.contending,
      servers,
      ...figuresOf(release),
      ms: release.ms,
    }))
}

const figuresOf = ({ counters }: ReleaseCost): Record<Figure, number> => ({
  notifications: counters.byKind.notification,
  frames: counters.frames,
  bytes: counters.bytes,
})

/** A point of the plot: the median of the releases that were tried with the same recipe and number of clients. */
export interface CostPoint {
  clients: number
  value: number
  tried: number
}

/** Returns the points of each recipe, by the number of clients. */
export function pointsOf(costs: readonly Cost[], figure: Figure): Map<RecipeId, CostPoint[]> {
  const byRecipe = new Map<RecipeId, Map<number, number[]>>()
  for (const cost of costs) {
    const sizes = byRecipe.get(cost.recipe) ?? new Map<number, number[]>()
    byRecipe.set(cost.recipe, sizes.set(cost.clients, [...(sizes.get(cost.clients) ?? []), cost[figure]]))
  }
  return new Map(
    [...byRecipe].map(([recipe, sizes]) => [
      recipe,
      [...sizes]
        .map(([clients, values]) => ({ clients, value: medianOf(values), tried: values.length }))
        .sort((a, b) => a.clients - b.clients),
    ]),
  )
}

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
