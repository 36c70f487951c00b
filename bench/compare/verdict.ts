// Judges by exact counts whether a result is worse than an earlier one. Times are left out, because they are noisy. Pure.
import { COUNTS, type Digest, type DigestCell } from './digest.ts'

type CellName = Pick<DigestCell, 'scenario' | 'size'>

/** A count that grew by more than the limit. */
interface WorseCount extends CellName {
  phase: string
  what: (typeof COUNTS)[number]
  then: number
  now: number
}

export interface Judgement {
  worse: WorseCount[]
  /** The number of counts that were compared. */
  judged: number
  /** Measurements whose steps had different counts in one of the results. */
  varying: CellName[]
  /** Measurements of the older result that the newer run was to make, and that its result does not contain. */
  missing: CellName[]
  /** Measurements of the older result that the newer run was not asked for. */
  unasked: CellName[]
}

/** @param limit the relative growth that is still accepted: 0.1 is 10 % */
export function judge(older: Digest, newer: Digest, limit: number): Judgement {
  const judgement: Judgement = { worse: [], judged: 0, varying: [], missing: [], unasked: [] }
  for (const before of older.cells) {
    const { scenario, size } = before
    const after = newer.cells.find(each => each.scenario === scenario && each.size === size)
    const isAsked = newer.scenarios.includes(scenario) && newer.sizes.includes(size)
    if (after === undefined && !isAsked) judgement.unasked.push({ scenario, size })
    else if (after === undefined || lacksPhases(before, after)) judgement.missing.push({ scenario, size })
    else if (!before.isConstant || !after.isConstant) judgement.varying.push({ scenario, size })
    else {
      const counts = countsIn(before, after)
      judgement.judged += counts.length
      judgement.worse.push(...counts.filter(({ then, now }) => now > then * (1 + limit)))
    }
  }
  return judgement
}

const lacksPhases = (before: DigestCell, after: DigestCell): boolean =>
  before.phases.some(({ phase }) => after.phases.every(each => each.phase !== phase))

function countsIn(before: DigestCell, { scenario, size, phases }: DigestCell): WorseCount[] {
  return phases.flatMap(now => {
    const then = before.phases.find(({ phase }) => phase === now.phase)
    if (then === undefined) return []
    return COUNTS.map(what => ({
      ...{ scenario, size, phase: now.phase, what },
      ...{ then: then.counts[what], now: now.counts[what] },
    }))
  })
}

export interface Verdict {
  /** True also if nothing could be judged, or if the newer run did not measure all that it was asked for. */
  isWorse: boolean
  sentences: string[]
}

export function verdictOf({ worse, judged, varying, missing, unasked }: Judgement, limit: number): Verdict {
  const growth = `grew by more than ${percent(limit)}`
  const summary =
    judged === 0
      ? 'Nothing could be judged: the two results have no exact count in common.'
      : worse.length > 0
        ? `WORSE: ${worse.length} of ${judged} exact counts ${growth}.`
        : `${missing.length > 0 ? 'None' : 'Not worse: none'} of ${judged} exact counts ${growth}.`
  const unjudged = (reason: string, cells: readonly CellName[]) =>
    cells.length === 0 ? [] : [`Not judged, because ${reason}: ${namesOf(cells)}.`]
  return {
    isWorse: worse.length > 0 || missing.length > 0 || judged === 0,
    sentences: [
      ...worse.map(sentenceOf),
      summary,
      ...(missing.length === 0
        ? []
        : [`MISSING, which counts as worse: the newer run was to measure ${namesOf(missing)}, and did not.`]),
      ...unjudged('their counts vary between steps', varying),
      ...unjudged('the newer run was not asked for them', unasked),
    ],
  }
}

function sentenceOf({ scenario, size, phase, what, then, now }: WorseCount): string {
  const more = then === 0 ? '' : `, which is ${percent(now / then - 1)} more`
  return `WORSE: ${scenario} ${size}, ${phase}: ${now} ${now === 1 ? what.slice(0, -1) : what} instead of ${then}${more}.`
}

/** Returns such as 'data 200 and 1000; herd 50'. */
function namesOf(cells: readonly CellName[]): string {
  const scenarios = [...new Set(cells.map(({ scenario }) => scenario))]
  const sizes = (name: string) => cells.filter(({ scenario }) => scenario === name).map(({ size }) => size)
  return scenarios
    .map(
      name =>
        `${name} ${sizes(name)
          .join(', ')
          .replace(/, (\d+)$/, ' and $1')}`,
    )
    .join('; ')
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`
