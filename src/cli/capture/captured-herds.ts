// The changes in a capture that notified a herd.
import { eventTypes, WatcherEvent } from '../../protocol/index.ts'
import type { Line } from '../conversation/conversation.ts'
import { CaptureExplainer } from './capture-explainer.ts'
import { CaptureError } from './packet.ts'

/** The length of a frame, and the header of a reply. */
const BODY = 4 + 16

const names = new Map<number, string>(Object.entries(eventTypes).map(([name, type]) => [type, name]))

/**
 * Returns the notifications that servers sent, the oldest first, and the counts of the capture as one line.
 * @param now a clock in milliseconds
 * @param port the port of the server, for connections that are older than the capture
 * @throws CaptureError if the bytes are not a capture, or are damaged
 */
export async function notificationsIn(
  chunks: AsyncIterable<Buffer>,
  now: () => number,
  port: number | undefined,
): Promise<{ notifications: Notification[]; summary: string }> {
  const notifications: Notification[] = []
  const onLine = (seconds: number, connection: number, { frame, bytes }: Line) => {
    if (frame?.op !== 'event' || bytes === undefined) return
    const { type, path } = WatcherEvent.decode(bytes.subarray(BODY))
    notifications.push({ seconds, connection, type: names.get(type) ?? String(type), path: path ?? '' })
  }
  const explainer = new CaptureExplainer(onLine, port)
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    explainer.push(chunk, now())
  }
  // Otherwise it would seem that nobody was notified.
  if (length < 4)
    throw new CaptureError(length === 0 ? 'the input is empty' : 'the input is not a capture of tcpdump -w')
  explainer.finish()
  return { notifications, summary: explainer.summary() }
}

/** A notification in a capture. */
export interface Notification {
  readonly seconds: number
  readonly connection: number
  /** The name of the event, such as NodeChildrenChanged. */
  readonly type: string
  readonly path: string
}

/** A node whose changes have notified many clients. */
export interface NotifiedHerd {
  readonly path: string
  readonly type: string
  /** The most connections that one change notified. */
  readonly notified: number
  /** How many changes notified as many as a herd has. */
  readonly changes: number
}

/** The longest time between the first and the last notification of one change, in seconds. */
const SPREAD = 1

/**
 * Returns the herds in the notifications of a capture, the largest first.
 * @param least how many connections that one change notifies make a herd
 */
export function herdsAmong(notifications: Iterable<Notification>, least: number): NotifiedHerd[] {
  const changes = new Map<string, { since: number; connections: Set<number> }>()
  const herds = new Map<string, NotifiedHerd>()
  for (const { seconds, connection, type, path } of notifications) {
    const key = `${type} ${path}`
    let change = changes.get(key)
    // One change notifies a client once.
    if (change === undefined || seconds - change.since > SPREAD || change.connections.has(connection))
      changes.set(key, (change = { since: seconds, connections: new Set() }))
    change.connections.add(connection)
    const { size } = change.connections
    const known = herds.get(key)
    if (size >= least)
      herds.set(key, {
        ...{ path, type },
        notified: Math.max(size, known?.notified ?? 0),
        changes: (known?.changes ?? 0) + (size === least ? 1 : 0),
      })
  }
  return [...herds.values()].toSorted((a, b) => b.notified - a.notified)
}
