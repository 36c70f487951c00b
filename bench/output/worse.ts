// Judges by exact counts whether a result is worse than an earlier one. Times are left out, because they are noisy. Pure.
import type { PhaseSummary } from '../measure/summary.ts'
import type { Result } from './result.ts'

type Cell = Result['cells'][number]
type CellName = Pick<Cell, 'scenario' | 'size'>

/** A count that grew by more than the limit. */
export interface WorseCount extends CellName {
  phase: string
  what: keyof typeof COUNTS
  then: number
  now: number
}

export interface Judgement {
  worse: WorseCount[]
  /** The number of counts that were compared. */
  judged: number
  /** Measurements whose steps had different counts in one of the results. */
  varying: CellName[]
  /** Measurements of the older result that the newer one does not contain. */
  missing: CellName[]
}

const COUNTS = {
  notification: ({ counts }: PhaseSummary) => counts.notifications.median,
  frame: ({ counts }: PhaseSummary) => counts.framesSent.median + counts.framesReceived.median,
  byte: ({ counts }: PhaseSummary) => counts.bytesSent.median + counts.bytesReceived.median,
} as const

/** @param limit the relative growth that is still accepted: 0.1 is 10 % */
export function judge(older: Result, newer: Result, limit: number): Judgement {
  const judgement: Judgement = { worse: [], judged: 0, varying: [], missing: [] }
  for (const before of older.cells) {
    const { scenario, size } = before
    const after = newer.cells.find(each => each.scenario === scenario && each.size === size)
    if (after === undefined || lacksPhases(before, after)) judgement.missing.push({ scenario, size })
    else if (!before.isConstant || !after.isConstant) judgement.varying.push({ scenario, size })
    else {
      const counts = countsIn(before, after)
      judgement.judged += counts.length
      judgement.worse.push(...counts.filter(({ then, now }) => now > then * (1 + limit)))
    }
  }
  return judgement
}

const lacksPhases = (before: Cell, after: Cell): boolean =>
  before.phases.some(({ phase }) => after.phases.every(each => each.phase !== phase))

function countsIn(before: Cell, { scenario, size, phases }: Cell): WorseCount[] {
  return phases.flatMap(now => {
    const then = before.phases.find(({ phase }) => phase === now.phase)
    if (then === undefined) return []
    return Object.entries(COUNTS).map(([what, of]) => ({
      ...{ scenario, size, phase: now.phase, what: what as WorseCount['what'] },
      ...{ then: of(then), now: of(now) },
    }))
  })
}

export interface Verdict {
  /** True also if nothing could be judged. */
  isWorse: boolean
  sentences: string[]
}

export function verdictOf({ worse, judged, varying, missing }: Judgement, limit: number): Verdict {
  const growth = `grew by more than ${percent(limit)}`
  const summary =
    judged === 0
      ? 'Nothing could be judged: the two results have no exact count in common.'
      : worse.length === 0
        ? `Not worse: none of ${judged} exact counts ${growth}.`
        : `WORSE: ${worse.length} of ${judged} exact counts ${growth}.`
  const unjudged = (reason: string, cells: readonly CellName[]) =>
    cells.length === 0 ? [] : [`Not judged, because ${reason}: ${namesOf(cells)}.`]
  return {
    isWorse: worse.length > 0 || judged === 0,
    sentences: [
      ...worse.map(sentenceOf),
      summary,
      ...unjudged('their counts vary between steps', varying),
      ...unjudged('the newer result does not contain them', missing),
    ],
  }
}

function sentenceOf({ scenario, size, phase, what, then, now }: WorseCount): string {
  const more = then === 0 ? '' : `, which is ${percent(now / then - 1)} more`
  return `WORSE: ${scenario} ${size}, ${phase}: ${now} ${what}${now === 1 ? '' : 's'} instead of ${then}${more}.`
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
