// Marks async contexts, so that a lock can recognise its holder by context. The only file that uses node:async_hooks.
import { AsyncLocalStorage } from 'node:async_hooks'
import { shared } from '../../runtime/shared.ts'

/** A mark on async contexts. withScope() drops it when it is over. */
interface Scope {
  readonly isOver: boolean
}

const contexts = shared('asyncOwners', () => new AsyncLocalStorage<readonly Scope[]>())

/** Activates AsyncLocalStorage: before Node 24, contexts propagate only after the first run(). */
export const activate = (): void => contexts.run([], () => undefined)

/**
 * Returns the current scopes and this one. Drops scopes that are over, so that the context of a loop of acquire and
 * release does not grow.
 */
const withScope = (scope: Scope): readonly Scope[] => {
  const others = contexts.getStore() ?? []
  return [scope, ...others.filter(other => other !== scope && !other.isOver)]
}

/** Returns true if the caller has entered the scope, or was started by code that has. */
export const isIn = (scope: Scope): boolean => contexts.getStore()?.includes(scope) ?? false

/** Runs a function in the scope. The caller stays outside. */
export const runIn = <T>(scope: Scope, fn: () => T): T => contexts.run(withScope(scope), fn)

/**
 * Makes the caller enter the scope. Everything that the caller starts from now on is in the scope too.
 * @throws if the runtime has no AsyncLocalStorage.enterWith (workerd)
 */
export const enter = (scope: Scope): void => contexts.enterWith(withScope(scope))
