// The part of node:assert/strict that the suite uses, for browsers.
import { assert as chai } from 'chai'

type Expected = RegExp | ((error: unknown) => boolean) | Readonly<Record<string, unknown>>

async function rejects(promise: Promise<unknown>, expected: Expected): Promise<void> {
  const error: unknown = await promise.then(
    () => chai.fail('the promise did not reject'),
    (reason: unknown) => reason,
  )
  if (typeof expected === 'function') chai.isTrue(expected(error))
  else if (expected instanceof RegExp) chai.match(String(error), expected)
  else for (const [name, value] of Object.entries(expected)) chai.deepEqual((error as typeof expected)[name], value)
}

export default {
  equal: (actual: unknown, expected: unknown): void => chai.strictEqual(actual, expected),
  notEqual: (actual: unknown, expected: unknown): void => chai.notStrictEqual(actual, expected),
  deepEqual: (actual: unknown, expected: unknown): void => chai.deepEqual(actual, expected),
  ok: (value: unknown): void => chai.isOk(value),
  match: (text: string, pattern: RegExp): void => chai.match(text, pattern),
  rejects,
}
