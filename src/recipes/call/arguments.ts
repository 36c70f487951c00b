// Checks of the arguments of recipes. Unchecked, a wrong argument would fail much later, or make a lock wait for ever.
import { aFunction, isClient } from '../../client/recipe-support.ts'
import { badArguments, pathProblem } from '../../protocol/index.ts'
import { aPositiveInteger, type Check } from '../../options/checks.ts'

/** Returns why a value cannot be used as a number of permits or members, or undefined if it can. */
export const countProblem = (value: unknown): string | undefined => named('count', aPositiveInteger, value)

/**
 * Checks the arguments that all recipes have.
 * @param op name of the class or function
 * @param problems what is wrong with each of the other arguments; undefined for a valid one
 * @throws ZooKeeperError BADARGUMENTS
 */
export function checkArguments(
  op: string,
  client: unknown,
  path: unknown,
  ...problems: readonly (string | undefined)[]
): void {
  const all = [clientProblem(client), pathProblem(path as string), ...problems]
  const problem = all.find(each => each !== undefined)
  if (problem !== undefined) throw badArguments(op, path, problem)
}

/**
 * Checks that the first argument is a function.
 * @throws ZooKeeperError BADARGUMENTS if it is not
 */
export function checkFunction(op: string, path: string, fn: unknown): void {
  const problem = named('the first argument', aFunction, fn)
  if (problem !== undefined) throw badArguments(op, path, problem)
}

function named(name: string, check: Check, value: unknown): string | undefined {
  const problem = check(value)
  return problem === undefined ? undefined : `${name} ${problem}`
}

function clientProblem(client: unknown): string | undefined {
  if (isClient(client)) return undefined
  return typeof (client as Partial<Promise<unknown>> | null | undefined)?.then === 'function'
    ? 'the client is a promise: did you forget await?'
    : 'the first argument must be a client, which connect() resolves with'
}
