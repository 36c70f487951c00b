// What a caller stands under, by his async context. The only file that knows node:async_hooks.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Something that is over at some time, and counts until then. */
interface Scope {
  readonly isOver: boolean
}

const contexts = new AsyncLocalStorage<readonly Scope[]>()

/** To be called before what is to be told apart begins: until a first use, Node before 24 does not note who awaits what. */
export const activate = (): void => contexts.run([], () => undefined)

/** What is over is left out, so that a loop which locks and unlocks does not grow its context. */
const together = (one: Scope): readonly Scope[] => {
  const others = contexts.getStore() ?? []
  return [one, ...others.filter(other => other !== one && !other.isOver)]
}

/** Did the caller come under it, or whoever started him since? */
export const isIn = (one: Scope): boolean => contexts.getStore()?.includes(one) ?? false

/** Runs a function under it; nobody outside the function comes under it. */
export const runIn = <T>(one: Scope, fn: () => T): T => contexts.run(together(one), fn)

/**
 * Puts the caller under it: him and what he starts from now on.
 * @throws where the runtime has no AsyncLocalStorage.enterWith (workerd)
 */
export const enter = (one: Scope): void => contexts.enterWith(together(one))
