// Says in sentences which lock to take, from which number of contenders on a lock cannot keep up, and what a release
// costs. Pure, and free of modules of Node.js, because the report's page uses it too.
import { amount, bitRate, duration, figure, whole } from '../output/figures.ts'
import { firstSize, lockForecast, MOST_SESSIONS, type Conditions, type LockForecast } from './forecast.ts'
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

/** A lock that other clients can share is recommended unless a release takes this many times as long. */
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

export interface Advice {
  heading: string
  sentences: string[]
}

interface Choice extends Pick<Lock, 'name' | 'isCandidate' | 'like'> {
  forecast: LockForecast
  /** The smallest number of contenders at which the lock does not keep up. */
  limit: number | undefined
}

/** Returns no sentence if the model has no lock with times. */
export function adviceOf(model: Model, size: number, conditions: Conditions): Advice {
  const { lineRate, cores, roundTrip, releases } = conditions
  const choices = LOCKS.flatMap(({ scenario, ...lock }): Choice[] => {
    const at = (n: number) => lockForecast(model, scenario, n, conditions)
    const forecast = at(size)
    return forecast === undefined ? [] : [{ ...lock, forecast, limit: firstSize(n => at(n)?.keepsUp === false) }]
  })
  return {
    heading: `With ${whole(size)} contenders, a line of ${bitRate(lineRate)}, ${plural(cores, 'core')} of the server, a round trip of ${duration(roundTrip)} and ${plural(releases, 'release')} a second:`,
    sentences:
      choices.length === 0
        ? []
        : [
            ...choiceSentence(choices),
            ...choices.map(costSentence),
            ...listSentence(model, choices, conditions),
            `Pings come on top: ${whole(size)} sessions with a timeout of 30 s send ${whole(Math.round(size / PING_SECONDS))} a second. Their cost, memory and file descriptors are not forecast.`,
          ],
  }
}

const plural = (value: number, word: string): string => `${whole(value)} ${word}${value === 1 ? '' : 's'}`

function choiceSentence(choices: readonly Choice[]): string[] {
  const candidates = choices.filter(({ isCandidate }) => isCandidate)
  if (candidates.length === 0) return []
  const able = candidates.filter(({ forecast }) => forecast.keepsUp)
  if (able.length === 0) {
    const best = candidates.reduce((a, b) => (b.forecast.perSecond > a.forecast.perSecond ? b : a))
    return [
      `No lock keeps up. ${best.name} comes closest, with ${figure(best.forecast.perSecond)} releases a second.${caveatOf(best)}`,
    ]
  }
  const fastest = Math.min(...able.map(({ forecast }) => forecast.ms))
  const isGood = ({ forecast: { ms, listBytes = 0 } }: Choice) => ms <= SLOWER * fastest && listBytes <= JAVA_MAX_REPLY
  const [best = able.reduce((a, b) => (b.forecast.ms < a.forecast.ms ? b : a))] = able.filter(isGood)
  const [first] = candidates
  const reason = first === undefined || first === best ? '' : ` ${reasonAgainst(first, best, fastest)}`
  return [`Take ${best.name}.${reason}${caveatOf(best)}`]
}

function reasonAgainst({ name, forecast }: Choice, best: Choice, fastest: number): string {
  const { keepsUp, perSecond, ms, listBytes = NaN } = forecast
  if (!keepsUp) return `${name} manages only ${figure(perSecond)} releases a second.`
  if (ms > SLOWER * fastest)
    return `A release of ${name} takes ${duration(ms)}, and one of ${best.name} ${duration(best.forecast.ms)}.`
  return `${name} reads a list of names of ${amount(listBytes)}, more than a Java client accepts by default.`
}

function costSentence({ name, like = '', forecast, limit }: Choice): string {
  const { release, size, ms, lineMs } = forecast
  const { notifications, bytesReceived, bytesSent } = release.counts
  const line = lineMs > ms / 2 ? `, ${duration(lineMs)} of them on the line` : ''
  const costs = [
    `notifies ${whole(notifications)} of ${whole(size)}`,
    `moves ${amount(bytesReceived + bytesSent)}`,
    `costs the server ${duration(release.server?.value ?? NaN)} of processor time${intervalOf(forecast)}`,
  ]
  return `${name}${like}: a release ${costs.join(', ')}, and takes ${duration(ms)}${line}. ${limitSentence(limit)}`
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
