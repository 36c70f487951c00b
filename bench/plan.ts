// How the time given is shared out. Pure.

/** One recipe with so many contenders. */
export interface Task<R> {
  recipe: R
  contenders: number
}

/**
 * Few contenders first, so that sessions are opened when they are needed, and recipes side by side, so that drift hits
 * them alike.
 */
export const tasksOf = <R>(recipes: readonly R[], contenders: readonly number[]): Task<R>[] =>
  contenders.flatMap(count => recipes.map(recipe => ({ recipe, contenders: count })))

/**
 * What the first of the tasks may take of the time that is left. A step takes longer with more contenders, but needs
 * fewer repeats.
 */
export function shareOf(tasks: readonly Pick<Task<unknown>, 'contenders'>[], timeLeft: number): number {
  const [first = 0, ...others] = tasks.map(({ contenders }) => Math.sqrt(contenders))
  return Math.max(0, timeLeft) * (first / others.reduce((total, weight) => total + weight, first))
}

export interface Limits {
  least: number
  most: number
  /** When the time for it is over. */
  until: number
  /** When even the least is too much. One step is always done. */
  atLast: number
}

/** Is another step to be done? */
export const isAnotherDue = (done: number, now: number, { least, most, until, atLast }: Limits): boolean =>
  done < most && (done === 0 || now < until || (done < least && now < atLast))
