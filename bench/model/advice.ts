// Says in sentences which lock to take, from which number of contenders on a lock cannot keep up, and what a release
// costs. Pure, and free of modules of Node.js, because the report's page uses it too.
import { amount, bitRate, duration, figure, whole } from '../output/figures.ts'
import {
  firstSize,
  lockForecast,
  MOST_SESSIONS,
  watchForecasts,
  type Conditions,
  type LockForecast,
} from './forecast.ts'
import type { Model } from './terms.ts'

interface Lock {
  scenario: string
  name: string
  isCandidate: boolean
  /** Which locks of other libraries cause the same traffic. */
  like?: string
}

/** The scenarios that are compared. The first of them that is fast enough is recommended. */
const LOCKS: readonly Lock[] = [
  { scenario: 'look-ahead', name: 'Mutex', isCandidate: true },
  {
    ...{ scenario: 'mutex', name: 'Mutex with lookAhead: false', isCandidate: true },
    like: ' (like the locks of Curator and kazoo)',
  },
  { scenario: 'ticket', name: 'TicketMutex', isCandidate: true },
  { scenario: 'ephemeral', name: 'EphemeralMutex', isCandidate: false },
  { scenario: 'herd', name: 'HerdMutex', isCandidate: false },
]

/** A lock that other clients can share is recommended unless a turn, the hold and the release, takes this many times as long. */
const SLOWER = 1.25
/** The longest reply that Java's client accepts by default, in bytes (jute.maxbuffer). */
export const JAVA_MAX_REPLY = 0xfffff
/** The longest reply that zkwire accepts by default, in bytes (maxReplyBytes). */
export const OWN_MAX_REPLY = 16 * 1024 * 1024

/** The other locks share their nodes with Curator and kazoo. */
const caveatOf = ({ name }: Choice): string =>
  name === 'TicketMutex' ? ' Clients of Curator and kazoo cannot contend for it, because its nodes are not theirs.' : ''

/** A client pings after a third of the session timeout. */
const PING_SECONDS = 10

/** The names of the locks that are compared. */
export const LOCK_NAMES: readonly string[] = LOCKS.map(({ name }) => name)
/** The lock that a reader has who names none. */
export const USUAL_LOCK = 'HerdMutex'

export interface Advice {
  /** At which number of contenders the reader's lock breaks, and what to take. Undefined without a lock with times. */
  verdict: string | undefined
  /** The conditions. */
  heading: string
  sentences: string[]
}

interface Choice extends Lock {
  forecast: LockForecast
  /** The smallest number of contenders at which the lock does not keep up. */
  limit: number | undefined
}

/**
 * Returns no sentence if the model has no lock with times.
 * @param yours the reader's lock, one of {@link LOCK_NAMES}
 */
export function adviceOf(model: Model, size: number, conditions: Conditions, yours = USUAL_LOCK): Advice {
  const { lineRate, cores, servers, roundTrip, hold } = conditions
  const choices = LOCKS.flatMap((lock): Choice[] => {
    const at = (n: number) => lockForecast(model, lock.scenario, n, conditions)
    const forecast = at(size)
    return forecast === undefined ? [] : [{ ...lock, forecast, limit: firstSize(n => at(n)?.keepsUp === false) }]
  })
  const choice = choiceOf(choices, hold)
  const own = choices.find(({ name }) => name === yours)
  return {
    verdict: own && verdictOf(own, choice, size),
    heading: `With ${whole(size)} contenders that hold the lock for ${duration(hold)} each, a round trip of ${duration(roundTrip)}, ${plural(servers, 'server')} with ${plural(cores, 'core')} and a line of ${bitRate(lineRate)}:`,
    sentences:
      choices.length === 0
        ? []
        : [
            ...(choice === undefined ? [] : [choice.sentence]),
            ...choices.map(costSentence),
            ...listSentence(model, choices, conditions),
            ...watchSentences(model, size, conditions),
            `Pings come on top: ${whole(size)} sessions with a timeout of 30 s send ${whole(Math.round(size / PING_SECONDS))} a second. Their cost, memory and file descriptors are not forecast.`,
          ],
  }
}

const plural = (value: number, word: string): string => `${whole(value)} ${word}${value === 1 ? '' : 's'}`

/** The lock to take, and why. */
interface Recommendation {
  best: Choice
  sentence: string
}

function verdictOf({ name, limit }: Choice, choice: Recommendation | undefined, size: number): string {
  const isOther = choice !== undefined && choice.best.name !== name
  const { best } = choice ?? {}
  if (limit === undefined) return `${name} does not break with any number of contenders.`
  if (size < limit)
    return `${name} does not break with ${whole(size)} contenders: it breaks at ${whole(limit)}${isOther ? `; ${choice.best.name} costs less` : ''}.`
  const breaks = limit === 2 ? `${name} is too slow with any number of contenders` : `${name} breaks at ${whole(limit)}`
  if (best?.forecast.keepsUp === true) return `${breaks}; take ${best.name}.`
  return `${breaks}; no lock is fast enough${isOther ? `, and ${choice.best.name} comes closest` : ''}.`
}

/** Returns undefined if no lock was measured that one would take. */
function choiceOf(choices: readonly Choice[], hold: number): Recommendation | undefined {
  const candidates = choices.filter(({ isCandidate }) => isCandidate)
  if (candidates.length === 0) return undefined
  const able = candidates.filter(({ forecast }) => forecast.keepsUp)
  if (able.length === 0) {
    const best = candidates.reduce((a, b) => (b.forecast.perSecond > a.forecast.perSecond ? b : a))
    const sentence = `No lock keeps up. ${best.name} comes closest, with ${figure(best.forecast.perSecond)} releases a second.${caveatOf(best)}`
    return { best, sentence }
  }
  const fastest = Math.min(...able.map(({ forecast }) => forecast.ms))
  const isSlow = ({ forecast: { ms } }: Choice) => hold + ms > SLOWER * (hold + fastest)
  const isGood = (choice: Choice) => !isSlow(choice) && (choice.forecast.listBytes ?? 0) <= JAVA_MAX_REPLY
  const [best = able.reduce((a, b) => (b.forecast.ms < a.forecast.ms ? b : a))] = able.filter(isGood)
  const [first] = candidates
  const reason = first === undefined || first === best ? '' : ` ${reasonAgainst(first, best, isSlow(first))}`
  return { best, sentence: `Take ${best.name}.${reason}${caveatOf(best)}` }
}

function reasonAgainst({ name, forecast }: Choice, best: Choice, isSlow: boolean): string {
  const { keepsUp, perSecond, ms, listBytes = NaN } = forecast
  if (!keepsUp) return `${name} manages only ${figure(perSecond)} releases a second.`
  if (isSlow)
    return `A release of ${name} takes ${duration(ms)}, and one of ${best.name} ${duration(best.forecast.ms)}.`
  return `${name} reads a list of names of ${amount(listBytes)}, more than a Java client accepts by default.`
}

function costSentence({ name, scenario, like = '', forecast, limit }: Choice): string {
  const { release, size, ms, lineMs } = forecast
  const { notifications, bytesReceived, bytesSent } = release.counts
  const line = lineMs > ms / 2 ? `, ${duration(lineMs)} of them on the line` : ''
  const costs = [
    `notifies ${whole(notifications)} of ${whole(size)}`,
    `moves ${amount(bytesReceived + bytesSent)}`,
    `costs the server ${duration(release.server?.value ?? NaN)} of processor time${intervalOf(forecast)}`,
  ]
  // The tables of the page have the names of the scenarios.
  return `${name}, the scenario ${scenario}${like}: a release ${costs.join(', ')}, and takes ${duration(ms)}${line}. ${limitSentence(limit)}`
}

function intervalOf({ release: { server } }: LockForecast): string {
  if (server?.low === undefined || server.high === undefined) return ''
  const [low, high] = [duration(Math.max(0, server.low)), duration(server.high)]
  return low === high ? '' : ` (${low} to ${high})`
}

function limitSentence(limit: number | undefined): string {
  if (limit === undefined) return `It keeps up with any number of contenders up to ${whole(MOST_SESSIONS)}.`
  return limit === 2 ? 'It never keeps up.' : `It cannot keep up from ${whole(limit)} contenders on.`
}

/** What N clients watch, by scenario. */
const WATCHED: Readonly<Record<string, string>> = {
  data: 'one node that all watch',
  child: 'the children of one node that all watch',
  recursive: 'a subtree that all watch persistently',
}

function watchSentences(model: Model, size: number, conditions: Conditions): string[] {
  const firsts = watchForecasts(model, size, conditions).filter(
    ({ scenario }, i, all) => all.findIndex(each => each.scenario === scenario) === i,
  )
  return firsts.map(({ scenario, change: { counts }, ms }) => {
    const moved = amount(counts.bytesReceived + counts.bytesSent)
    return `A change of ${WATCHED[scenario] ?? scenario} notifies ${whole(counts.notifications)}, moves ${moved}, and is known to the last of them after ${duration(ms)}.`
  })
}

/** Says from which size on lists of names exceed the limits of clients. */
function listSentence(model: Model, choices: readonly Choice[], conditions: Conditions): string[] {
  const choice = choices.find(({ forecast }) => forecast.listBytes !== undefined)
  if (choice === undefined) return []
  const { scenario } = choice.forecast
  const from = (most: number) =>
    firstSize(n => (lockForecast(model, scenario, n, conditions)?.listBytes ?? 0) > most) ?? MOST_SESSIONS
  return [
    `From ${whole(from(JAVA_MAX_REPLY))} contenders on, a list of names is longer than Java's client accepts by default (jute.maxbuffer), and from ${whole(from(OWN_MAX_REPLY))} on longer than zkwire does (maxReplyBytes). TicketMutex reads no lists.`,
  ]
}
