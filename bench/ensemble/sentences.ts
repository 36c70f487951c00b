// The findings on an ensemble, in short sentences. Pure.
import { median, sum } from '../measure/statistics.ts'
import { amount, figure, list, whole } from '../output/figures.ts'
import type { Calls, EnsembleFigures, HandOver, LeaderLoss, Placed } from './figures.ts'

/** Returns a heading and its sentences. */
export function ensembleSentences(figures: EnsembleFigures): string[] {
  const sentences = [
    ...spreadSentences(figures),
    ...writeSentences(figures),
    ...handOverSentences(figures),
    ...herdSentences(figures),
    ...lossSentences(figures.leaderLoss),
    ...frameCountSentences(figures),
    ...figures.remarks,
  ]
  const { servers, sessions } = figures
  return [
    `ON THE SERVERS of the ensemble (${rolesOf(figures)}), with ${sessions} sessions:`,
    ...sentences.map(sentence => `- ${sentence}`),
  ].filter(() => servers.length > 0)
}

/** Returns the roles with their numbers, such as '1 leader and 2 followers'. */
export function rolesOf({ servers }: Pick<EnsembleFigures, 'servers'>): string {
  const roles = [...new Set(servers.map(({ role }) => role))].sort((a, b) => rank(a) - rank(b))
  return list(
    roles.map(role => {
      const count = servers.filter(each => each.role === role).length
      const name = role === 'unknown' ? 'server of unknown role' : role
      return `${count} ${count === 1 ? name : name.replace(/^(\w+)/, '$1s')}`
    }),
  )
}

/** Returns a name for each server, such as 'follower 2'. */
export const serverNames = ({ servers }: Pick<EnsembleFigures, 'servers'>): string[] =>
  servers.map(({ role }, i) => `${role === 'unknown' ? 'server' : role} ${i + 1}`)

const ORDER: readonly string[] = ['leader', 'follower', 'observer']
const rank = (role: string): number => (ORDER.indexOf(role) + ORDER.length + 1) % (ORDER.length + 1)

const spreadOf = ({ placed }: EnsembleFigures, scenario: string): Placed | undefined =>
  placed.find(each => each.scenario === scenario && each.on === 'all servers')

const range = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? String(least) : `${least} to ${most}`
}

function spreadSentences(figures: EnsembleFigures): string[] {
  const spread = spreadOf(figures, 'data')
  if (spread === undefined) return []
  const notified = spread.byServer.map(({ notifications }) => notifications)
  return [
    `Spread: notifications and reads. One change notified ${sum(notified)} sessions: each server notified its own ${range(notified)}, and answered their reads.`,
  ]
}

function writeSentences({ servers, calls }: EnsembleFigures): string[] {
  const leader = servers.findIndex(({ role }) => role === 'leader')
  const proposed = calls.map(({ proposals }) => proposals[leader])
  const writes = sum(calls.map(each => each.writes))
  const sentences = []
  if (leader >= 0 && proposed.every(count => count !== undefined))
    sentences.push(
      `Not spread: writes. Of ${writes} writes, ${calls[leader]?.writes} were sent to the leader, and it proposed ${sum(proposed)}.`,
    )
  const times = (which: 'write' | 'read') =>
    list(
      byRole(servers, calls).map(
        ({ role, all }) => `${figure(median(all.map(call => call[which].p50)))} ms through ${article(role)}`,
      ),
    )
  if (calls.length > 0) sentences.push(`A write took ${times('write')} (median), and a read ${times('read')}.`)
  return sentences
}

function byRole(servers: EnsembleFigures['servers'], calls: readonly Calls[]) {
  const roles = [...new Set(servers.map(({ role }) => role))].sort((a, b) => rank(a) - rank(b))
  return roles.map(role => ({ role, all: calls.filter(({ server }) => servers[server]?.role === role) }))
}

const article = (role: string): string =>
  role === 'leader' ? 'the leader' : role === 'unknown' ? 'a server' : role === 'observer' ? 'an observer' : `a ${role}`

/** Returns the hand-overs grouped by the roles of the holder's and the waiter's server. */
export function handOversByRole({ servers, handOvers }: Pick<EnsembleFigures, 'servers' | 'handOvers'>) {
  const groups = new Map<string, { from: string; to: string; same: boolean; all: HandOver[] }>()
  for (const handOver of handOvers) {
    const [from, to] = [servers[handOver.from]?.role ?? 'unknown', servers[handOver.to]?.role ?? 'unknown']
    const same = handOver.from === handOver.to
    const key = `${rank(from)} ${rank(to)} ${same ? 0 : 1}`
    const group = groups.get(key) ?? { from, to, same, all: [] }
    group.all.push(handOver)
    groups.set(key, group)
  }
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([, { from, to, same, all }]) => ({
      ...{ from, to, same, count: sum(all.map(({ latency }) => latency.count)) },
      p50: median(all.map(({ latency }) => latency.p50)),
      p99: Math.max(...all.map(({ latency }) => latency.p99)),
    }))
}

function handOverSentences(figures: EnsembleFigures): string[] {
  const groups = handOversByRole(figures)
  if (groups.length === 0) return []
  const [fastest, slowest] = [...groups]
    .sort((a, b) => a.p50 - b.p50)
    .filter((_, i, all) => i === 0 || i === all.length - 1)
  if (fastest === undefined || slowest === undefined) return []
  const where = ({ from, to, same }: { from: string; to: string; same: boolean }) =>
    same
      ? `both on ${from === 'leader' ? 'the leader' : `the same ${from}`}`
      : `the holder on ${article(from)} and the waiter on ${to === from ? `another ${to}` : article(to)}`
  return [
    `A hand-over of Mutex took ${figure(fastest.p50)} ms with ${where(fastest)}, and ${figure(slowest.p50)} ms with ${where(slowest)} (medians).`,
  ]
}

function herdSentences(figures: EnsembleFigures): string[] {
  const { placed } = figures
  return ['data', 'herd'].flatMap(scenario => {
    const spread = spreadOf(figures, scenario)
    const ones = placed.filter(
      each => each.scenario === scenario && each.on !== 'all servers' && each.phase === spread?.phase,
    )
    const one = ones.find(({ on }) => on === 'one follower') ?? ones[0]
    if (spread === undefined || one === undefined) return []
    const most = (each: Placed) => amount(Math.max(...each.byServer.map(({ bytesReceived }) => bytesReceived)))
    const what = scenario === 'data' ? 'one change' : 'one release of the herd lock'
    return [
      `With all sessions on ${one.on}, ${what} made it send ${most(one)}, and all traffic took ${figure(one.ms)} ms. On all servers, the busiest sent ${most(spread)}, and it took ${figure(spread.ms)} ms.`,
    ]
  })
}

function lossSentences(loss: LeaderLoss | undefined): string[] {
  if (loss === undefined) return []
  const { sessions, disconnected, expired, watchers, informed } = loss
  return [
    `The leader was killed in the middle: another one led after ${figure(loss.newLeaderMs)} ms, and a write succeeded after ${figure(loss.firstWriteMs)} ms. The longest pause between two hand-overs was ${figure(loss.longestPauseMs)} ms; before, it was ${figure(loss.usualPauseMs)} ms.`,
    `${disconnected} of ${sessions} sessions lost their connection, ${expired === 0 ? 'none' : expired} expired, and all were connected again after ${figure(loss.reconnectedMs)} ms. ${loss.overlapped ? 'TWO SESSIONS HELD THE LOCK AT ONCE.' : 'No two sessions held the lock at once.'} ${informed} of ${watchers} watching sessions read the next change.`,
  ]
}

function frameCountSentences({ frameCounts: { frames, agree } }: EnsembleFigures): string[] {
  const asked = frames.flatMap(({ clients, server }) => (server === undefined ? [] : { clients, server }))
  if (asked.length === 0) return []
  const passed = sum(asked.map(({ clients }) => clients[0] + clients[1]))
  if (agree === false) return ['THE COUNTS of servers and clients differ: see the report.']
  const more = sum(asked.map(({ server }) => server[0] + server[1])) - passed
  if (agree === true || more === 0)
    return [`Each of ${asked.length} servers counted the same frames as its clients: ${passed} together.`]
  return [
    `The servers counted ${whole(Math.abs(more))} frames ${more > 0 ? 'more' : 'fewer'} than the ${whole(passed)} that these sessions sent and received${more > 0 ? ': those of other clients' : ''}.`,
  ]
}
