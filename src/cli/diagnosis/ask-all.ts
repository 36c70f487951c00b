// Asks each server of a connect string for four-letter words.
import type { Clock } from '../../runtime/clock.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import type { Target } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { askFor } from './four-letter-words.ts'
import { serversOf, tlsDialFor } from './servers.ts'
import { isDenied, isUnderstood } from './session-words.ts'

/** How long one answer may take, ms. */
const TIMEOUT = 10_000
/** The longest answer that is read, in bytes: `cons` has about 200 for each connection. */
const LONGEST_ANSWER = 64 * 1024 * 1024

/** Why a server has not said what it was asked for. */
export interface Problem<W> {
  readonly word: W
  readonly isRefusal: boolean
  readonly text: string
}

export interface Answer {
  readonly server: string
  readonly text: string
}

export type Answers<W extends string> = Readonly<Record<W, readonly Answer[]>>

export interface Asked<W extends string> {
  readonly answers: Answers<W>
  readonly problems: readonly Problem<W>[]
}

/** Asks each server for each word. */
export async function askAll<W extends string>(words: readonly W[], target: Target, clock: Clock): Promise<Asked<W>> {
  const { tls } = target.options
  const answers = Object.fromEntries(words.map(word => [word, []])) as unknown as Record<W, Answer[]>
  const problems: Problem<W>[] = []
  await Promise.all(
    (await serversOf(target, clock)).flatMap(address => {
      const server = hostPortOf(address)
      const dial = tls ? tlsDialFor(address.host, tls) : undefined
      const options = { dial, timeout: TIMEOUT, clock, longest: LONGEST_ANSWER }
      return words.map(async word => {
        const note = ({ text, isRefusal = false }: ReturnType<typeof refusalOf> & object) =>
          problems.push({ word, isRefusal, text: escaped(`${server} ${text}`) })
        try {
          const { text } = await askFor(word, address, options)
          const refusal = refusalOf(word, text)
          if (refusal === undefined) answers[word].push({ server, text })
          else note(refusal)
        } catch (error) {
          note({ text: `does not answer ${word}: ${(error as Error).message}` })
        }
      })
    }),
  )
  return { answers, problems: problems.toSorted((a, b) => (a.text < b.text ? -1 : 1)) }
}

/** Returns what was asked. @throws CommandError if no server has answered any word */
export function requireAnswers<W extends string>(asked: Asked<W>): Asked<W> {
  const { answers, problems } = asked
  const isAnswered = Object.values<readonly Answer[]>(answers).some(({ length }) => length > 0)
  if (isAnswered || problems.length === 0) return asked
  throw new CommandError(
    problems.some(({ isRefusal }) => isRefusal) ? statuses.refused : statuses.noServer,
    problems.map(({ text }) => text).join('; '),
  )
}

/** Returns why a server has not said what it was asked for, or undefined if it has. */
function refusalOf(word: string, answer: string): { text: string; isRefusal?: boolean } | undefined {
  if (isDenied(answer))
    return { text: `does not allow the word ${word}: add it to 4lw.commands.whitelist of the server`, isRefusal: true }
  if (answer.includes('not currently serving requests')) return { text: `has no quorum, and does not know ${word}` }
  // ClickHouse Keeper answers so to a word that four_letter_word_white_list lacks, and to wchc if there are no watches.
  if (answer === '') return { text: `closed the connection without an answer to ${word}` }
  return isUnderstood(word, answer) ? undefined : { text: `answers ${word} in a form that zkwire does not know` }
}
