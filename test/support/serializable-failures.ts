// Makes the error of a failed test serializable. Mocha sends it as JSON from the process that runs the file, and a
// BigInt in it would hide the failure, and the results of the whole file.
import { inspect } from 'node:util'

function isSerializable(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

export const mochaHooks = {
  afterEach(this: Mocha.Context) {
    const { err } = this.currentTest ?? {}
    if (err === undefined || isSerializable(err)) return
    const details = err as unknown as Record<string, unknown>
    for (const key of Object.keys(details)) if (!isSerializable(details[key])) details[key] = inspect(details[key])
  },
}
