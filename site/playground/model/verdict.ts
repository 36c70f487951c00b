// What the judge says, as sentences.
import type { Overlap, Verdict } from '../../lab/judge.ts'
import { plural, seconds } from './words.ts'

export const describeOverlap = ({ clients: [one, other], from, until }: Overlap): string =>
  `Client ${one} and client ${other} were inside at the same time, from ${seconds(from)} to ${seconds(until)}.`

/** Says whether only one client was inside at a time, and which clients never were, or still run. */
export function describeVerdict({ overlaps, entries, outside, unfinished }: Verdict): string {
  const inside =
    entries === 0
      ? unfinished.length > 0
        ? 'The judge has seen no call of enter() in this run, so there is nothing to judge.'
        : 'No client called enter(), so there is nothing to judge.'
      : overlaps.length > 0
        ? `Broken: ${plural(overlaps.length, 'overlap')} in ${plural(entries, 'entry', 'entries')}.`
        : `Right so far: one client at a time, ${plural(entries, 'entry', 'entries')}.`
  const left = entries > 0 && outside.length > 0 ? ` ${listOf(outside)} never entered.` : ''
  const running = unfinished.length > 0 ? ` ${listOf(unfinished)} did not end.` : ''
  return `${inside}${left}${running}`
}

const listOf = (clients: readonly number[]): string =>
  `${clients.length === 1 ? 'Client' : 'Clients'} ${clients.join(', ').replace(/, (\d+)$/, ' and $1')}`
