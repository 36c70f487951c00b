// The parts of a client that recipes and the program `zkwire` need and users do not. No entry point exports this file.
import type { Abort } from '../runtime/abort.ts'
import type { Clock } from '../runtime/clock.ts'
import { uuidFrom } from '../runtime/uuid.ts'
import { LeaderCheck } from '../session/leader-check.ts'
import { backoff } from '../session/servers/backoff.ts'
import { newWatch } from '../session/watches/one-shot-watches.ts'
import { WATCHES_TOGETHER } from '../session/watches/watch-manager.ts'
import type { WatchCallback, WatchEvent } from '../session/watches/watch-event.ts'
import { EventQueue, type Watcher } from '../session/watches/watcher.ts'
import { internals, type Client } from './client.ts'
import { openACL } from './acl.ts'
import { Pace, pauseInSession } from './pace.ts'
import { createLevels, ensurePath, type Levels } from './recursive.ts'

export type { Pace } from './pace.ts'
export { aBoolean, aFunction } from '../options/checks.ts'
export { copyOfACL } from './acl.ts'
export { isTerminal, terminalCodes } from '../session/life/states.ts'
export { unlessRefused } from './unless-refused.ts'
export { anACL, aSignal, aTimeout, checked, copyOf, dataProblem, newDataProblem, signalChecks } from './validation.ts'

/** Returns true for a client of any copy of this package in the process. */
export const isClient = (value: unknown): value is Client =>
  typeof value === 'object' && value !== null && internals in value

/** Returns the clock that the client was opened with. */
export const clockOf = (client: Client): Clock => client[internals]().settings.clock

/** Returns true if nodes that the client creates without an ACL are not open to everybody. */
export const hasACL = (client: Client): boolean => client[internals]().settings.acl !== openACL

/** Returns the random source that the client was opened with: numbers in [0, 1). */
export const randomOf = (client: Client): (() => number) => client[internals]().settings.random

/** Returns the most bytes of a reply that the client accepts. */
export const maxReplyBytesOf = (client: Client): number => client[internals]().settings.maxReplyBytes

/** Returns the pauses of a new loop, which must not ask the server again and again without a pause. */
export const newPace = (client: Client): Pace => new Pace(client, client[internals]().settings)

/** Waits `ms` milliseconds, or until the session changes its state or the signal aborts. */
export const pause = (client: Client, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  pauseInSession(client, clockOf(client), ms, signal)

/** As {@link pause}, before a request that was refused is repeated: longer after each refusal, up to a second. */
export const pauseAfter = (client: Client, refusals: number, signal: AbortSignal | undefined): Promise<void> =>
  pause(client, backoff(refusals, randomOf(client)), signal)

/** Returns a new version 4 UUID, made from the random source that the client was opened with. */
export const newUuid = (client: Client): string => uuidFrom(client[internals]().settings.random)

/** Returns the same object for all views of one session, for use as a key of a WeakMap. */
export const sessionKey = (client: Client): object => client[internals]().session

/** Returns the path at the server: the client's root, followed by the path. */
export const serverPath = (client: Client, path: string): string => client[internals]().root.add(path)

/** Creates a node of the server's tree and the nodes above it, unless they exist. */
export async function ensureAtServer(client: Client, path: string, levels: Levels): Promise<void> {
  const root = client[internals]().atServerRoot()
  if (path !== '/') await ensurePath(root, path, { ...levels, newPace: () => newPace(client) })
}

/** Creates a node of the server's tree that is missing and those above it, by requests that it sends before it returns. */
export async function createAtServer(client: Client, path: string, levels: Levels): Promise<void> {
  const root = client[internals]().atServerRoot()
  if (path !== '/') await createLevels(root, path, levels)
}

/**
 * Makes `client.settled()` wait for work that outlives its call. A rejection of the work is ignored.
 * @param path the path of a recipe, if the work removes what a call has left there: see {@link removedAt}
 */
export const inBackground = (client: Client, work: Promise<unknown>, path?: string): void =>
  client[internals]().session.background.run(work, path === undefined ? undefined : serverPath(client, path))

/**
 * Resolves when what earlier calls of this session have left at the path of a recipe is removed. Returns undefined if
 * nothing is being removed there.
 */
export const removedAt = (client: Client, path: string): Promise<unknown> | undefined =>
  client[internals]().session.background.settledAt(serverPath(client, path))

/** Returns the number of connections on which a server has accepted the session. */
export const connectionsOf = (client: Client): number => client[internals]().session.diagnostics.connects

/**
 * Sets a one-shot watch on the data of each of several nodes, by one request, which reads nothing. A watch is called at
 * once if its node does not exist, or has changed since a transaction. From 3.8.4 and 3.9.2 on, a watch on a node that
 * the session may not read is never called. Sends the request before it returns.
 * @param zxid of that transaction
 * @returns undefined, and sends nothing, if the session has a persistent watch on one of the paths, or the server cannot
 */
export function watchTogether(
  client: Client,
  nodes: readonly { path: string; callback: WatchCallback; signal: AbortSignal }[],
  zxid: bigint,
): Promise<void> | undefined {
  const { session, root, view } = client[internals]()
  if (session.usableConnection?.version.lacks(WATCHES_TOGETHER) === true) return undefined
  const watches = nodes.map(({ path, callback, signal }) => newWatch(callback, path, root.add(path), signal, view))
  return session.watches.watchTogether(watches, zxid)
}

/** As `addWatch()`, but calls back with each event, in order with the callbacks of one-shot watches and with replies. */
export function watchTree(
  client: Client,
  path: string,
  recursive: boolean,
  signal: AbortSignal,
  callback: WatchCallback,
): Promise<Watcher> {
  const { session, root, view } = client[internals]()
  const subscription = {
    serverPath: root.add(path),
    mode: recursive ? ('persistentRecursive' as const) : ('persistent' as const),
    queue: new CallingQueue(path, event => session.callbacks.later(callback, event)),
    show: (serverPath: string) => root.strip(serverPath),
    view,
  }
  return session.watches.add(path, subscription, signal)
}

/** A queue that stays empty: it passes each event to a callback. */
class CallingQueue extends EventQueue {
  readonly #callback: WatchCallback

  constructor(path: string, callback: WatchCallback) {
    super(path, 0)
    this.#callback = callback
  }

  override push(event: WatchEvent): void {
    this.#callback(event)
  }
}

/**
 * Returns what aborts when the session must be presumed lost, as `client.leaseSignal` does. To listen to it costs less
 * than to listen to a signal.
 */
export function leaseLossOf(client: Client): Abort {
  const { lease } = client[internals]().session
  lease.expireIfDue()
  return lease.loss
}

/** Ends the lease if it has expired, as its timer would do later, for example because the process stood still. */
export const noticeExpiry = (client: Client): void => void client[internals]().session.lease.expireIfDue()

function leaderCheckOf(client: Client): LeaderCheck {
  const { session, settings } = client[internals]()
  return (session.leaderCheck ??= new LeaderCheck(session, settings))
}

/**
 * Returns true if the session is certain to live for a while, so that what its nodes grant can be relied on: see
 * session/life/lease.ts.
 */
export const isConfirmed = (client: Client): boolean => leaderCheckOf(client).isConfirmed

/**
 * Waits until {@link isConfirmed} is likely true. The nodes may have changed meanwhile: read them again.
 * @throws the signal's reason; ZooKeeperError SESSIONEXPIRED, AUTHFAILED or CLOSED if the session has ended
 */
export async function whenConfirmed(client: Client, signal: AbortSignal | undefined): Promise<void> {
  await client.whenConnected({ signal })
  await leaderCheckOf(client).whenConfirmed(signal)
}

/** Keeps {@link isConfirmed} true until the returned function is called. */
export const keepConfirmed = (client: Client): (() => void) => leaderCheckOf(client).keepConfirmed()

/** Must be called when the session begins to hold something. Returns a function that ends that. */
export const holdLease = (client: Client): (() => void) => leaderCheckOf(client).hold()

/**
 * Calls back in a microtask, in order with watch callbacks. Errors and rejections of the callback are passed to
 * `onUncaughtError`.
 */
export const callLater = (client: Client, callback: () => unknown): void =>
  client[internals]().session.callbacks.later(callback, undefined)

/** Passes an error to `onUncaughtError`, in order with watch callbacks. */
export const reportUncaught = (client: Client, error: unknown): void =>
  callLater(client, () => {
    throw error
  })
