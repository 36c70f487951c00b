// Bugs of the benchmark's verdicts.
import type { PlantedBug } from '../planted-bug.ts'

const worse = { file: 'bench/output/worse.ts', caughtBy: 'test/bench/output/worse.test.ts' }

const model = { file: 'bench/model/model.ts', caughtBy: 'test/bench/model/model.test.ts' }
const forecast = { file: 'bench/model/forecast.ts', caughtBy: 'test/bench/model/forecast.test.ts' }
const heldOut = { file: 'bench/model/held-out.ts', caughtBy: 'test/bench/model/held-out.test.ts' }
const advice = { file: 'bench/model/advice.ts', caughtBy: 'test/bench/model/advice.test.ts' }
const leastSquares = { file: 'bench/model/least-squares.ts', caughtBy: 'test/bench/model/least-squares.test.ts' }

export const benchBugs: readonly PlantedBug[] = [
  {
    ...worse,
    bug: 'a comparison of two results without a common count passes',
    from: 'missing.length > 0 || judged === 0',
    to: 'missing.length > 0',
  },
  {
    ...worse,
    bug: 'a comparison passes a run that did not measure all that it was asked for',
    from: 'worse.length > 0 || missing.length > 0 ||',
    to: 'worse.length > 0 ||',
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
    ...{ file: 'bench/output/comparable.ts', caughtBy: worse.caughtBy },
    bug: 'a comparison does not judge the frames that the clients sent',
    from: 'counts.framesSent.median + counts.framesReceived.median',
    to: 'counts.framesReceived.median',
  },
  {
    ...model,
    bug: 'the model is fitted to processor times that include fences',
    from: 'isTimed: asExpected !== undefined',
    to: 'isTimed: true',
  },
  {
    ...model,
    bug: 'the model has the cost of a byte for locks without lists',
    from: "kind === 'lock' && theory.bytes > theory.notifications && grows(rows, 'bytesReceived')",
    to: "kind === 'lock'",
  },
  {
    ...heldOut,
    bug: 'the model is fitted to the size that it foretells',
    from: 'each <= size / TIMES',
    to: 'each <= size',
  },
  {
    ...forecast,
    bug: 'the model forgets the work of the client that gets the lock',
    from: ' + work([release]) + client',
    to: ' + work([release])',
  },
  {
    ...forecast,
    bug: 'the model forgets that the former holder joins again',
    from: 'Math.max(ms, work(forecasts))',
    to: 'ms',
  },
  {
    ...forecast,
    bug: 'the model adds the time of the line to that of the server',
    from: `    Math.max(
      some.reduce(`,
    to: `    ((a: number, b: number) => a + b)(
      some.reduce(`,
  },
  {
    ...advice,
    bug: 'the advice is a lock whose list is too long for a Java client',
    from: ' && listBytes <= JAVA_MAX_REPLY',
    to: '',
  },
  {
    ...advice,
    bug: 'the advice is a lock that does not keep up',
    from: 'candidates.filter(({ forecast }) => forecast.keepsUp)',
    to: 'candidates',
  },
  {
    ...leastSquares,
    bug: 'a cost is negative',
    from: ' || some.factors.some(factor => factor < 0)',
    to: '',
  },
  {
    ...leastSquares,
    bug: 'all values of a fit have the same weight',
    from: 'weights = scaled.map(row => 1 / Math.max(least, Math.abs(dot(row, factors))))',
    to: 'weights = values.map(() => 1)',
  },
]
