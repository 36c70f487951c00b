// The geometry of the stage: where clients, servers and wires are. Pure, so that Node tests it.
// May import: site/world.

export interface Point {
  x: number
  y: number
}

/** A rectangle by its middle. */
export interface Box extends Point {
  width: number
  height: number
}

export interface Layout {
  width: number
  height: number
  /** The diameter of a client's token. */
  token: number
  /** By the client's number. The operator, 0, stands in the corner. */
  clients: readonly Point[]
  /** The server with the number 1 is the first. */
  servers: readonly Box[]
}

const TOKEN = { largest: 46, smallest: 24, gap: 4 }
/** Room outside of the tokens for the rings of frames that arrive. */
const INSET = 8
/** The exponent of the curve on which the clients stand: between an ellipse (2) and a rectangle. */
const SQUARENESS = 3.4
const SAMPLES = 1440

/**
 * Places the clients at equal distances on a curve around the servers, the first one at the top, then clockwise.
 * @param width width of the stage in pixels
 */
export function layoutOf(width: number, height: number, clients: number, servers: number): Layout {
  const curve = (token: number) =>
    curveOf(width / 2, height / 2, (width - token) / 2 - INSET, (height - token) / 2 - INSET)
  const room = lengthOf(curve(TOKEN.smallest)) / Math.max(1, clients) - TOKEN.gap
  const token = Math.max(TOKEN.smallest, Math.min(TOKEN.largest, room))
  const operator = { x: TOKEN.smallest, y: height - TOKEN.smallest }
  const places = [operator, ...spread(curve(token), clients)]
  return { width, height, token, clients: places, servers: boxesOf(width, height, clients, servers) }
}

/** Returns the points of a superellipse, clockwise from its top. The first point is repeated at the end. */
const curveOf = (x: number, y: number, a: number, b: number): Point[] =>
  Array.from({ length: SAMPLES + 1 }, (_, i) => {
    const angle = (i / SAMPLES) * 2 * Math.PI
    const power = (value: number) => Math.sign(value) * Math.abs(value) ** (2 / SQUARENESS)
    return { x: x + a * power(Math.sin(angle)), y: y - b * power(Math.cos(angle)) }
  })

export const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)

const lengthOf = (curve: readonly Point[]): number =>
  curve.reduce((sum, point, i) => sum + distance(point, curve[i - 1] ?? point), 0)

function spread(curve: readonly Point[], count: number): Point[] {
  const step = lengthOf(curve) / count
  const points: Point[] = []
  let passed = 0
  for (const [i, point] of curve.entries()) {
    const before = curve[i - 1] ?? point
    // The samples are not equally far apart, so most points lie between two of them.
    while (points.length < count && points.length * step <= passed + distance(before, point))
      points.push(along(before, point, points.length * step - passed))
    passed += distance(before, point)
  }
  return points
}

/** A row of nodes in a server's box, and the box without nodes. */
const ROW = { height: 30, width: 60 }
const EMPTY_BOX = 130

function boxesOf(width: number, height: number, clients: number, servers: number): Box[] {
  const portrait = width < 520
  // Three boxes reach into the corners, so they need more room for the wires.
  const [across, down] = servers === 1 ? (portrait ? [140, 150] : [250, 210]) : portrait ? [150, 200] : [360, 260]
  const inner = { width: width - across, height: height - down }
  if (servers === 1) {
    const box = Math.min(inner.width, 380)
    const rows = Math.ceil(clients / Math.floor((box - 20) / ROW.width))
    return [
      { x: width / 2, y: height / 2, width: box, height: Math.min(inner.height, 370, EMPTY_BOX + rows * ROW.height) },
    ]
  }
  const box = { width: inner.width * 0.46, height: inner.height * (portrait ? 0.36 : 0.44) }
  const [left, right] = [(width - inner.width + box.width) / 2, (width + inner.width - box.width) / 2]
  const [top, bottom] = [(height - inner.height + box.height) / 2, (height + inner.height - box.height) / 2]
  return [
    { ...box, x: width / 2, y: top },
    { ...box, x: left, y: bottom },
    { ...box, x: right, y: bottom },
  ].slice(0, servers)
}

/** A wire from the edge of a token, or of a server's box, to the edge of a server's box. */
export interface Wire {
  from: Point
  to: Point
}

export function wireOf(layout: Layout, client: number, server: number): Wire | undefined {
  const [token, box] = [layout.clients[client], layout.servers[server - 1]]
  if (token === undefined || box === undefined) return undefined
  return { from: along(token, box, layout.token / 2 + 1), to: edgeOf(box, token) }
}

export function linkBetween(layout: Layout, one: number, other: number): Wire | undefined {
  const [a, b] = [layout.servers[one - 1], layout.servers[other - 1]]
  return a === undefined || b === undefined ? undefined : { from: edgeOf(a, b), to: edgeOf(b, a) }
}

/** Returns the point of a straight line that lies `pixels` away from its start. */
export function along(from: Point, to: Point, pixels: number): Point {
  const whole = distance(from, to)
  const part = whole === 0 ? 0 : pixels / whole
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/** Returns where the line from the middle of the box to `towards` leaves the box. */
function edgeOf(box: Box, towards: Point): Point {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y]
  const part = Math.min(box.width / 2 / Math.abs(dx), box.height / 2 / Math.abs(dy), 1)
  return { x: box.x + dx * part, y: box.y + dy * part }
}
