// The table that a soak run prints.
import { attemptsIn, grouped, isGrant } from '../linearizability/history.ts'
import type { Evidence } from '../linearizability/evidence.ts'
import { longestExcusedBelief, rules, type Violation } from '../linearizability/invariants.ts'

export interface Result {
  minutes: number
  seed: number
  evidence: Evidence
  broken: readonly Violation[]
  faults: ReadonlyMap<string, number>
  leftWatches: number
  /** Time from the last fault until all pending attempts were over, ms. */
  drained: number
  /** Unexpected exits of workers, and everything that workers wrote to stderr. */
  complaints: readonly string[]
}

const SHOWN = 20

export function tableOf(result: Result): string {
  const { minutes, seed, evidence, broken, faults, leftWatches, drained, complaints } = result
  const attempts = attemptsIn(evidence.events)
  const count = (what: 'granted' | 'refused' | 'lost' | 'released') =>
    attempts.filter(attempt => attempt[what] !== undefined).length
  const why = grouped(
    attempts.flatMap(({ refused }) => (refused === undefined ? [] : [refused.why.replace(/[:/].*$/s, '')])),
    each => each,
  )
  const sessions = new Set(attempts.map(({ session }) => session)).size
  const locks = [...grouped(attempts.filter(isGrant), ({ lock }) => lock)].sort(([a], [b]) => (a < b ? -1 : 1))
  const total = [...faults.values()].reduce((sum, each) => sum + each, 0)
  const byRule = grouped(broken, ({ rule }) => rule)
  const row = (name: string, value: number | string) => `  ${name.padEnd(44)}${String(value).padStart(10)}`
  return [
    `soak: three servers, ${minutes} min, seed ${seed}`,
    row('tries', attempts.length),
    row('grants', count('granted')),
    ...locks.map(([lock, grants]) => row(`  ${lock}`, grants.length)),
    row('refused', count('refused')),
    ...[...why].map(([reason, all]) => row(`  ${reason}`, all.length)),
    row('lost while held', count('lost')),
    row('sessions', sessions),
    row('transactions in the log', evidence.log.length),
    row('faults', total),
    ...[...faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => row(`  ${name}`, times)),
    row('from the last fault until all is quiet, ms', drained.toFixed(0)),
    row('longest belief in a lock taken away, ms', longestExcusedBelief(evidence).toFixed(0)),
    'violations',
    ...Object.keys(rules).map(rule => row(`  ${rule}`, byRule.get(rule as Violation['rule'])?.length ?? 0)),
    row('  watches left', leftWatches),
    row('  complaints of processes', complaints.length),
    ...broken.slice(0, SHOWN).map(({ rule, lock, what }) => `${rule}: ${lock}: ${what}`),
    ...complaints.slice(0, SHOWN),
  ].join('\n')
}
