// Who somebody is, by the async context in which he calls. The only file that knows node:async_hooks.
import { AsyncLocalStorage } from 'node:async_hooks'

/** One in a context, and those around him: he may do what they may. */
interface Somebody {
  readonly around: Somebody | undefined
}

const contexts = new AsyncLocalStorage<Somebody>()

/** Runs a function as somebody new, within whoever calls; nobody outside the function becomes him. */
export const asSomebody = <T>(fn: () => T): T => contexts.run({ around: contexts.getStore() }, fn)

/**
 * Makes the caller somebody, if he is nobody yet: him and what he starts from now on.
 * @throws where the runtime has no AsyncLocalStorage.enterWith (workerd)
 */
export function becomeSomebody(): void {
  if (contexts.getStore() === undefined) contexts.enterWith({ around: undefined })
}

/** The caller, then those around him. */
export function everybodyHere(): object[] {
  const here: object[] = []
  for (let somebody = contexts.getStore(); somebody !== undefined; somebody = somebody.around) here.push(somebody)
  return here
}
