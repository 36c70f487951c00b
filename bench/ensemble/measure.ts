// All measurements on an ensemble, one after the other. They remove their sessions and nodes at the end.
import { randomUUID } from 'node:crypto'
import { connect } from '../../src/index.ts'
import { rejection, whenAborted } from '../harness/aborted.ts'
import type { Server } from '../harness/server.ts'
import { SESSION_TIMEOUT } from '../harness/sessions.ts'
import type { Progress } from '../output/progress.ts'
import { measureCalls, measureHandOvers, Pairs } from './calls.ts'
import type { EnsembleFigures } from './figures.ts'
import { measureLeaderLoss } from './leader-loss.ts'
import { PinnedSessions } from './pinned.ts'
import { FrameCounter } from '../measure/frame-counter.ts'
import { measurePlacements } from './placements.ts'
import { sitesOf, type Site, type Sites } from './start.ts'
import { seededRandom } from '../../environment/seeded-random.ts'

/** Enough for a herd. More would measure this process, which has all the sessions of these measurements. */
const MOST_SESSIONS = 300
const CLOSE_TIMEOUT = 10_000
/** The time in which the nodes of an aborted run must be removed, ms. */
const CLEAN_UP_TIMEOUT = 2000

/**
 * Measures the ensemble of this server. Returns undefined if it is not in an ensemble.
 * @throws Error if only one server of the ensemble is named or can be reached, or if a session fails; the reason of the
 * signal
 */
export async function measureEnsemble(
  server: Pick<Server, 'servers' | 'pids' | 'mode' | 'ensemble'>,
  /** `sizes` are the numbers of sessions of the run. */
  { sizes, seed }: { sizes: readonly number[]; seed: number },
  progress: Progress,
  interrupt: AbortSignal,
): Promise<EnsembleFigures | undefined> {
  const found = await sitesOf(server)
  if (found === undefined) return undefined
  const { sites } = found
  const { servers, ensemble } = server
  const failure = new AbortController()
  const signal = AbortSignal.any([interrupt, failure.signal])
  const root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  const addresses = sites.map(({ address }) => address)
  const sessions = Math.max(sites.length, Math.min(MOST_SESSIONS, Math.max(...sizes)))
  const random = seededRandom(seed)
  const setUp = new FrameCounter(root, { framePassed: () => undefined, otherFramePassed: () => undefined })
  // On the first server alone as long as frames are counted, because that server counts the pings of this session too.
  await using admin = await connect(addresses[0] ?? servers, {
    ...{ sessionTimeout: SESSION_TIMEOUT, signal, onFrame: setUp.observer() },
  })
  await admin.create(root)
  const pinned = new PinnedSessions(addresses, root, {
    failed: error => failure.abort(error),
    opened: () => progress.show('opening sessions on each server'),
  })
  try {
    const plan = {
      admin,
      adminTraffic: setUp.traffic,
      root,
      sites,
      sessions,
      random,
      signal,
      isAlone: ensemble !== undefined,
    }
    progress.clear()
    progress.show('the sessions on all servers, and on one of them')
    const { placed, frameCounts } = await orAborted(measurePlacements(pinned, plan), signal)
    await pinned.workers.close(CLOSE_TIMEOUT)
    admin.updateServerList(servers)
    progress.show('hand-overs between the servers')
    await using pairs = await Pairs.open(addresses, signal)
    const calls = await orAborted(measureCalls(pairs, plan), signal)
    const handOvers = await orAborted(measureHandOvers(pairs, plan), signal)
    progress.show('the loss of the leader')
    const leaderLoss = survivesLoss(sites)
      ? ensemble && (await orAborted(measureLeaderLoss(ensemble, root, signal), signal))
      : undefined
    return {
      servers: sites.map(({ address, role, reporter }) => ({ address, role, countedBy: reporter?.source })),
      ...{ sessions, placed, frameCounts, calls, handOvers, leaderLoss },
      remarks: remarksOn(found, ensemble !== undefined),
    }
  } finally {
    progress.clear()
    await pinned.workers.close(CLOSE_TIMEOUT)
    // A signal also ends the servers that this run started, and then no call of this session ever ends.
    let limit: NodeJS.Timeout | undefined
    whenAborted(signal, () => (limit = setTimeout(() => void admin.close(), CLEAN_UP_TIMEOUT)))
    await admin
      .retry(() => admin.deleteRecursive(root))
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    clearTimeout(limit)
  }
}

/** True if a majority is left without the leader. */
const survivesLoss = (sites: readonly Site[]): boolean =>
  sites.filter(({ role }) => role === 'leader' || role === 'follower').length > 2

/** Says what was not measured, or not confirmed by a server. */
function remarksOn({ sites, unreachable }: Sites, isOwn: boolean): string[] {
  const silent = sites.filter(({ reporter }) => reporter === undefined).map(({ address }) => address)
  const roleless = sites.filter(({ role }) => role === 'unknown').map(({ address }) => address)
  return [
    ...(unreachable.length === 0 ? [] : [`These servers could not be reached: ${unreachable.join(', ')}.`]),
    ...(silent.length === 0
      ? []
      : [
          `These servers answer neither mntr nor by their admin server, so only the clients counted: ${silent.join(', ')}.`,
        ]),
    ...(roleless.length === 0
      ? []
      : [`The role of these servers is unknown, because srvr is disabled: ${roleless.join(', ')}.`]),
    ...(isOwn ? [] : ['The loss of the leader was not measured, because this run did not start the servers.']),
    ...(isOwn && !survivesLoss(sites)
      ? ['The loss of the leader was not measured, because two voting servers have no majority without one of them.']
      : []),
  ]
}

/** Rejects as soon as the signal aborts, because a phase that waits for a lost session does not end. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => Promise.race([work, rejection(signal)])
