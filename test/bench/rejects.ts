// How the options of each program of the benchmark are refused: with one line that names the fault.
import { expect } from 'chai'
import { UsageError } from '../../bench/output/usage.ts'

/** Defines a test for each list of arguments: parsing it throws a UsageError with exactly this message. */
export function itRejects(
  parse: (args: readonly string[]) => unknown,
  cases: readonly (readonly [args: readonly string[], complaint: string])[],
): void {
  for (const [args, complaint] of cases)
    it(`rejects ${args.join(' ') || 'no argument'} in one line`, () => {
      expect(() => parse(args))
        .to.throw(UsageError)
        .with.property('message')
        .that.equals(complaint)
    })
}
