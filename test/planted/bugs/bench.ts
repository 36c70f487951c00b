// Bugs of the benchmark's verdicts.
import type { PlantedBug } from '../planted-bug.ts'

const worse = { file: 'bench/output/worse.ts', caughtBy: 'test/bench/output/worse.test.ts' }

export const benchBugs: readonly PlantedBug[] = [
  {
    ...worse,
    bug: 'a comparison of two results without a common count passes',
    from: 'isWorse: worse.length > 0 || judged === 0',
    to: 'isWorse: worse.length > 0',
  },
  {
    ...worse,
    bug: 'a comparison fails if a count grew by exactly the accepted share',
    from: 'now > then * (1 + limit)',
    to: 'now >= then * (1 + limit)',
  },
  {
    ...worse,
    bug: 'a comparison judges counts that vary',
    from: '!before.isConstant || !after.isConstant',
    to: '!before.isConstant',
  },
  {
    ...worse,
    bug: 'a comparison does not notice that a phase is missing',
    from: 'after === undefined || lacksPhases(before, after)',
    to: 'after === undefined',
  },
  {
    ...worse,
    bug: 'a comparison does not judge the frames that the clients sent',
    from: 'counts.framesSent.median + counts.framesReceived.median',
    to: 'counts.framesReceived.median',
  },
]
