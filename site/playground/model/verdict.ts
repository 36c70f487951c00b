// What the judge says, as sentences.
import { removedFrom, type Exercise } from '../../lab/exercises.ts'
import type { Overlap, Verdict } from '../../lab/judge.ts'
import { plural, seconds } from './words.ts'

export const describeOverlap = ({ clients: [one, other], from, until }: Overlap): string =>
  `Client ${one} and client ${other} were inside at the same time, from ${seconds(from)} to ${seconds(until)}.`

/** What is said of a run. */
export interface Judgement {
  /** Code is between backticks. */
  readonly text: string
  readonly isBad: boolean
}

/**
 * Says whether a program solves the exercise that it began with. Without one, only what happened.
 * @param program the text that ran
 */
export const judgementOn = (verdict: Verdict, program: string, exercise: Exercise | undefined): Judgement =>
  exercise === undefined
    ? { text: describeVerdict(verdict), isBad: verdict.overlaps.length > 0 || verdict.failures.length > 0 }
    : solutionOf(exercise, program, verdict)

function solutionOf(exercise: Exercise, program: string, verdict: Verdict): Judgement {
  const { symptom } = exercise
  const { overlaps, entries, failures, notifications } = verdict
  const removed = removedFrom(exercise, program)
  const wrong = [
    ...(removed === undefined ? [] : [`the program must keep ${codeOf(removed)} where it was.`]),
    ...(entries === 0 ? ['no client called enter().'] : []),
    ...(overlaps.length > 0 ? [`${overlapsOf(verdict)}.`] : []),
    ...(failures.length > 0 ? [`${plural(failures.length, 'program')} failed.`] : []),
    ...remainderOf(verdict),
    ...(symptom === 'herd' && entries > 0 ? herdOf(verdict) : []),
  ]
  if (wrong.length > 0) return { text: `Not solved: ${wrong.join(' ')}`, isBad: true }
  const notified = symptom === 'herd' ? `, with ${plural(notifications, 'notification')}` : ''
  const text = `Solved: one client at a time, ${entriesOf(verdict)}, each program has ended${notified}.`
  return { text, isBad: false }
}

/** Returns lines of code between backticks. */
const codeOf = (lines: string): string => lines.replaceAll(/.+/g, '`$&`').replaceAll('\n', ' ')

/** Says whether too many were notified. Who waits needs one notification; the first client does not wait. */
function herdOf({ entries, notifications }: Verdict): string[] {
  if (notifications === 0) return ['no client was notified: those that wait have asked again and again.']
  if (notifications < entries) return []
  return [`${plural(notifications, 'notification')}, and one for each client that waits is enough: ${entries - 1}.`]
}

/** Says whether only one client was inside at a time, and which clients never were, or still run. */
function describeVerdict(verdict: Verdict): string {
  const { overlaps, entries, unfinished } = verdict
  const remainder = remainderOf(verdict)
  const inside =
    entries === 0
      ? unfinished.length > 0
        ? 'The judge has seen no call of enter() in this run, so there is nothing to judge.'
        : 'No client called enter(), so there is nothing to judge.'
      : overlaps.length > 0
        ? `Broken: ${overlapsOf(verdict)}.`
        : `${remainder.length > 0 ? 'No overlap' : 'Right'} so far: one client at a time, ${entriesOf(verdict)}.`
  return [inside, ...remainder].join(' ')
}

const entriesOf = ({ entries }: Verdict): string => plural(entries, 'entry', 'entries')

const overlapsOf = (verdict: Verdict): string =>
  `${plural(verdict.overlaps.length, 'overlap')} in ${entriesOf(verdict)}`

/** Says which clients never were inside, and which still run. */
const remainderOf = ({ entries, outside, unfinished }: Verdict): string[] => [
  ...(entries > 0 && outside.length > 0 ? [`${listOf(outside)} never entered.`] : []),
  ...(unfinished.length > 0 ? [`${listOf(unfinished)} did not end.`] : []),
]

const listOf = (clients: readonly number[]): string =>
  `${clients.length === 1 ? 'Client' : 'Clients'} ${clients.join(', ').replace(/, (\d+)$/, ' and $1')}`
