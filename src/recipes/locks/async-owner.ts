// Marks async contexts, so that a lock can recognise its holder by context. The only file that uses node:async_hooks.
import { AsyncLocalStorage } from 'node:async_hooks'
import { shared } from '../../runtime/shared.ts'

/** A mark on async contexts. withMark() drops it when it is over. */
interface Mark {
  readonly isOver: boolean
}

const contexts = shared('asyncOwners', () => new AsyncLocalStorage<readonly Mark[]>())

/** Activates AsyncLocalStorage: before Node 24, contexts propagate only after the first run(). */
export const activate = (): void => contexts.run([], () => undefined)

/**
 * Returns the current marks and this one. Drops marks that are over, so that the context of a loop of acquire and
 * release does not grow.
 */
const withMark = (mark: Mark): readonly Mark[] => {
  const others = contexts.getStore() ?? []
  return [mark, ...others.filter(other => other !== mark && !other.isOver)]
}

/** Returns true if the caller's context has the mark: the caller entered it, or was started by code that did. */
export const isIn = (mark: Mark): boolean => contexts.getStore()?.includes(mark) ?? false

/** Runs a function in a context with the mark. That of the caller does not get it. */
export const runIn = <T>(mark: Mark, fn: () => T): T => contexts.run(withMark(mark), fn)

/**
 * Marks the caller's context. Everything that the caller starts from now on has the mark too.
 * @throws if the runtime has no AsyncLocalStorage.enterWith (workerd)
 */
export const enter = (mark: Mark): void => contexts.enterWith(withMark(mark))
