// Where the frames in flight are. Each frame in flight becomes exactly one dot.
import type { ServerMessage } from '../../world/member-message.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import { along, distance, lengthOf, linkBetween, wireOf, type Layout, type Point, type Wire } from './layout.ts'
import type { Kind } from './glyphs.ts'

/** Something that flies: a frame, or a message between two servers. */
export interface Flight {
  /** The number of the frame. Undefined for a message between servers. */
  n: number | undefined
  /** The message between servers. Undefined for a frame. */
  message: Pick<ServerMessage, 'n' | 'kind' | 'from' | 'to'> | undefined
  kind: Kind
  /** Between which ends it flies: it shares its path only with flights of the same `route`. */
  route: string
  wire: Wire | undefined
  sentAt: number
  arrivesAt: number
  lostAt: number | undefined
}

/** Returns what flies at this time. */
export function flightsOf(layout: Layout, frames: readonly WireFrame[], messages: readonly ServerMessage[]): Flight[] {
  return [
    ...frames.map(frame => frameFlight(layout, frame)),
    ...messages.map(message => messageFlight(layout, message)),
  ]
}

function frameFlight(
  layout: Layout,
  { n, kind, client, server, direction, sentAt, arrivesAt, lostAt }: WireFrame,
): Flight {
  const wire = wireOf(layout, client, server)
  const towards = direction === 'up' ? wire : wire?.toReversed()
  return {
    n,
    message: undefined,
    kind,
    route: `${client} ${server} ${direction}`,
    wire: towards,
    sentAt,
    arrivesAt,
    lostAt,
  }
}

function messageFlight(layout: Layout, { n, kind, from, to, sentAt, arrivesAt }: ServerMessage): Flight {
  const wire = linkBetween(layout, from, to)
  return {
    n: undefined,
    message: { n, kind, from, to },
    kind: 'replication',
    route: `s${from} s${to}`,
    wire,
    sentAt,
    arrivesAt,
    lostAt: undefined,
  }
}

export interface Dot extends Point {
  n: number | undefined
  message: Flight['message']
  kind: Kind
  lost: boolean
}

/** The distance between the paths of frames to a server and of frames from it. */
const SIDE = 5
/** The smallest distance between two frames on a wire, unless there are too many. */
const SPACING = 15
/** The place of a frame on its wire if nothing may move. */
const STILL = 0.5

/**
 * Returns one dot for each frame.
 * @param still true if dots must not move (reduced motion)
 */
export function dotsOf(flights: readonly Flight[], now: number, still: boolean): Dot[] {
  const routes = new Map<string, Flight[]>()
  for (const flight of flights) {
    const others = routes.get(flight.route)
    if (others === undefined) routes.set(flight.route, [flight])
    else others.push(flight)
  }
  return [...routes.values()].flatMap(route => dotsOnRoute(route, now, still))
}

function dotsOnRoute(route: readonly Flight[], now: number, still: boolean): Dot[] {
  const wire = route[0]?.wire
  if (wire === undefined) return []
  const whole = lengthOf(wire)
  const spacing = Math.min(SPACING, whole / route.length)
  let ahead = Infinity
  return route.map((flight, i) => {
    // Frames that are sent in the same instant keep their distance, so that each can be seen, also at the sender.
    const behind = (route.length - 1 - i) * spacing
    const pixels = Math.min(Math.max((still ? STILL : progressOf(flight, now)) * whole, behind), ahead - spacing)
    ahead = pixels
    const { x, y } = beside(wire, pixels)
    const lost = flight.lostAt !== undefined && now >= flight.lostAt
    return {
      n: flight.n,
      message: flight.message,
      kind: flight.kind,
      ...{ lost, x, y },
    }
  })
}

/** Returns the point beside a wire, {@link SIDE} to its right, that lies `pixels` after its start. */
function beside(wire: Wire, pixels: number): Point {
  let left = pixels
  let end = wire.length - 1
  for (let i = 1; i < end; i++) {
    const part = distance(wire[i - 1] as Point, wire[i] as Point)
    if (left < part) end = i
    else left -= part
  }
  const [from, to] = [wire[end - 1] as Point, wire[end] as Point]
  const { x, y } = along(from, to, left)
  const whole = distance(from, to)
  const across = whole === 0 ? 0 : SIDE / whole
  return { x: x - (to.y - from.y) * across, y: y + (to.x - from.x) * across }
}

/** Returns which part of its way something has flown, from 0 to 1. */
function progressOf({ sentAt, arrivesAt }: Flight, now: number): number {
  // On an unplugged line, a frame stays halfway.
  const part = Number.isFinite(arrivesAt)
    ? (now - sentAt) / Math.max(0.001, arrivesAt - sentAt)
    : Math.min(STILL, (now - sentAt) / 10)
  return Math.max(0, Math.min(1, part))
}

/** Returns the dot nearest to a point, if it is near enough to be meant. */
export function dotAt(dots: readonly Dot[], point: Point, reach: number): Dot | undefined {
  const near = dots.filter(dot => distance(dot, point) <= reach)
  return near.sort((a, b) => distance(a, point) - distance(b, point))[0]
}
