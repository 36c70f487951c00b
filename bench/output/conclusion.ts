// The conclusion of a run: at most ten sentences with the figures at the largest size. Pure.
import { sum } from '../measure/statistics.ts'
import type { PhaseSummary, Summary } from '../measure/summary.ts'
import type { Result } from './result.ts'
import { amount, figure, list } from './figures.ts'

type Findings = Pick<Result, 'cells' | 'growth' | 'scenarios'>
type Cell = Findings['cells'][number]

const MAX_SENTENCES = 10

/** Returns a heading and its sentences, or nothing if nothing was measured. */
export function conclusionOf(result: Findings): string[] {
  const size = sizeOf(result)
  const cells = result.scenarios.flatMap(({ name }) =>
    result.cells.filter(cell => cell.scenario === name && cell.size === size),
  )
  const ofKind = (kind: string) =>
    cells.filter(cell => result.scenarios.some(({ name, kind: own }) => name === cell.scenario && own === kind))
  const locks = ofKind('lock')
  const comparisons = [
    ...turnSentence(locks),
    ...growthSentence(locks, result),
    ...delaySentence(locks),
    ...ofKind('watch').slice(0, 1).map(changeSentence),
    ...ofKind('session').slice(0, 1).map(reconnectSentence),
  ]
  const releases = locks.map(cell => releaseSentence(cell, result))
  const sentences = [...releases.slice(0, MAX_SENTENCES - comparisons.length), ...comparisons]
  if (sentences.length === 0) return []
  return [`IN SHORT, with ${size} sessions:`, ...sentences.map(sentence => `- ${sentence}`)]
}

/**
 * Counts the herd and the mutex at each size, or all scenarios if neither was measured. Returns the largest size with
 * the highest count, because a run that ended early lacks scenarios at some sizes.
 */
function sizeOf({ cells }: Findings): number {
  const primary = cells.filter(({ scenario }) => ['herd', 'mutex'].includes(scenario))
  const counts = new Map<number, number>()
  for (const { size } of primary.length > 0 ? primary : cells) counts.set(size, (counts.get(size) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return Math.max(...[...counts].filter(([, count]) => count === most).map(([size]) => size))
}

function releaseSentence({ scenario, size, phases: [release] }: Cell, { scenarios }: Findings): string {
  const about = scenarios.find(({ name }) => name === scenario)?.about ?? ''
  const notified = release?.counts.notifications.median ?? NaN
  return `${scenario} (${about}): one release notified ${notified} of ${size}, and moved ${amount(movedBy(release))}.`
}

const turnSentence = (locks: readonly Summary[]): string[] =>
  locks.length === 0
    ? []
    : [
        `Until each session has had the lock once, ${list(
          locks.map(({ scenario, size, phases }) => `${scenario} moves ${amount(size * sum(phases.map(movedBy)))}`),
        )}.`,
      ]

function growthSentence(locks: readonly Summary[], { growth }: Findings): string[] {
  const grown = locks.flatMap(({ scenario }) => {
    const fitted = growth.find(each => each.scenario === scenario)?.bytes
    return fitted === undefined ? [] : [`${figure(10 ** fitted.exponent)} with ${scenario}`]
  })
  return grown.length === 0 ? [] : [`Ten times the sessions multiply the bytes that a release reads by ${list(grown)}.`]
}

function delaySentence(locks: readonly Summary[]): string[] {
  const delays = locks.flatMap(({ scenario, phases: [release] }) =>
    release?.marks === undefined ? [] : [`${figure(release.marks.all.p50)} ms with ${scenario}`],
  )
  return delays.length === 0 ? [] : [`From a release to the next holder it took ${list(delays)} (median).`]
}

function changeSentence({ scenario, size, phases: [change] }: Summary): string {
  const notified = `one change notified ${change?.counts.notifications.median ?? NaN} of ${size} sessions`
  return `${scenario}: ${notified}, the last of them after ${figure(change?.marks?.last)} ms.`
}

function reconnectSentence({ scenario, size, phases }: Summary): string {
  const moved = amount(sum(phases.map(movedBy)))
  return `${scenario}: ${size} sessions were back ${figure(phases.at(-1)?.marks?.last)} ms after the loss of their server, and moved ${moved}.`
}

const movedBy = (phase: PhaseSummary | undefined): number =>
  (phase?.counts.bytesSent.median ?? NaN) + (phase?.counts.bytesReceived.median ?? NaN)
