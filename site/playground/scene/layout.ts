// The geometry of the stage: where clients, servers and wires are. Pure, so that Node tests it.
// May import: site/history, site/world.

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
  /** By the numbers of the client and of the server, from 0: see {@link wireOf}. */
  wires: readonly (readonly Wire[])[]
  /** The store outside ZooKeeper; undefined if there is no room for it. */
  store: Box | undefined
  /** Where lines lead past the servers between their ends, by the numbers of these, as in "1 3": the x of each. */
  bypasses: Readonly<Record<string, number>>
}

const TOKEN = { largest: 46, smallest: 24, gap: 4 }
/** Below this width, several servers are stacked, because side by side they would be too narrow for a name. */
const STACKED = 640
/** The largest token around a stack. */
const STACK_TOKEN = 36
/** Room outside of the tokens for the rings of frames that arrive. */
const INSET = 8
/** The exponent of the curve on which the clients stand: between an ellipse (2) and a rectangle, for several boxes. */
const SQUARENESS = { one: 3.4, several: 6 }
const SAMPLES = 1440

/** Returns the height of a stage: a phone has a high one, a screen a broad one. Several servers need more. */
export function heightOf(width: number, servers: number): number {
  const more = servers > 3 ? STACK.more : 0
  if (servers > 1) return Math.round(width < STACKED ? Math.min(720, width * 1.84) + more : Math.min(690, width * 0.83))
  return Math.round(width < 520 ? width * 1.65 : Math.max(460, Math.min(640, width * 0.74)))
}

/**
 * Places the clients at equal distances on a curve around the servers, the first one at the top, then clockwise.
 * @param width width of the stage in pixels
 */
export function layoutOf(width: number, height: number, clients: number, servers: number): Layout {
  const squareness = servers > 1 ? SQUARENESS.several : SQUARENESS.one
  const curve = (token: number) =>
    curveOf({ x: width / 2, y: height / 2 }, (width - token) / 2 - INSET, (height - token) / 2 - INSET, squareness)
  const isStack = servers > 1 && width < STACKED
  const largest = isStack ? STACK_TOKEN : TOKEN.largest
  const room = lengthOf(curve(TOKEN.smallest)) / Math.max(1, clients) - TOKEN.gap
  const token = Math.max(TOKEN.smallest, Math.min(largest, room))
  const operator = { x: TOKEN.smallest, y: height - TOKEN.smallest }
  const places = [operator, ...spread(curve(token), clients)]
  const stage = { width, height, token, clients: places }
  const { servers: boxes, bypasses } = isStack
    ? stackOf(width, height, token, servers)
    : { servers: servers === 1 ? [boxOf(width, height, clients)] : rowsOf(width, height, token, servers), bypasses: {} }
  return {
    ...stage,
    servers: boxes,
    store: servers === 1 && clients <= STORE.clients ? storeOf(width, token) : undefined,
    bypasses,
    wires: places.map(place => boxes.map(box => wireTo(box, boxes, place, token))),
  }
}

/** Returns the points of a superellipse, clockwise from its top. The first point is repeated at the end. */
const curveOf = ({ x, y }: Point, a: number, b: number, squareness: number): Point[] =>
  Array.from({ length: SAMPLES + 1 }, (_, i) => {
    const angle = (i / SAMPLES) * 2 * Math.PI
    const power = (value: number) => Math.sign(value) * Math.abs(value) ** (2 / squareness)
    return { x: x + a * power(Math.sin(angle)), y: y - b * power(Math.cos(angle)) }
  })

export const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)

export const lengthOf = (curve: readonly Point[]): number =>
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

/** The children of a node are drawn with their names if there are no more of them: a line each. More share lines. */
export const MANY_NODES = 7
/** A node in a server's box, with an owner and watches, and the box without nodes. */
const NODE = { height: 30, width: 96 }
const EMPTY_BOX = 130

function boxOf(stageWidth: number, stageHeight: number, clients: number): Box {
  const [across, down] = stageWidth < 520 ? [140, 150] : [250, 210]
  const width = Math.min(stageWidth - across, 380)
  const rows = clients <= MANY_NODES ? clients : Math.ceil(clients / Math.max(2, Math.floor((width - 20) / NODE.width)))
  const height = Math.min(stageHeight - down, 370, EMPTY_BOX + rows * NODE.height)
  return { x: stageWidth / 2, y: stageHeight / 2, width, height }
}

/** The largest box of the store, and the most clients that leave it room. */
const STORE = { width: 220, height: 100, heightOnPhone: 142, clients: 4 }

/** In the corner at the top right, because a few clients stand at the middles of the sides, or below. */
function storeOf(stageWidth: number, token: number): Box {
  // Room for a word below the client at the top.
  const left = stageWidth / 2 + token / 2 + 20
  const width = Math.min(STORE.width, stageWidth - left)
  const height = stageWidth < 520 ? STORE.heightOnPhone : STORE.height
  return { x: stageWidth - width / 2, y: height / 2, width, height }
}

/** The room for wires around several servers, and between them. That beside a stack is a part of the width. */
const ROWS = { wire: { across: 40, down: 32 }, gap: { across: 70, down: 54 } }
const STACK = { wire: { across: 0.085, down: 32 }, gap: 26, lane: 22, more: 80 }
/** Where the outer corners of the boxes are, as parts of the way to the curve: on it, by {@link SQUARENESS}. */
const CORNER = { three: { across: 0.94, down: 0.78 }, others: { across: 0.9, down: 0.88 } }

/** Two boxes below, and none, one or two above. They fill the curve of the tokens, so that they show as many nodes as possible. */
function rowsOf(stageWidth: number, stageHeight: number, token: number, servers: number): Box[] {
  const { wire, gap } = ROWS
  const corner = servers === 3 ? CORNER.three : CORNER.others
  const reach = {
    x: stageWidth / 2 - INSET - token - wire.across,
    y: stageHeight / 2 - INSET - token - wire.down,
  }
  // One box above has its corners far from the curve.
  const rows = servers === 2 ? 1 : 2
  const above = servers === 3 ? reach.y : reach.y * corner.down
  const width = reach.x * corner.across - gap.across / 2
  const height = (above + reach.y * corner.down - gap.down * (rows - 1)) / rows
  const top = stageHeight / 2 - above + height / 2
  const sides = [-(width + gap.across) / 2, (width + gap.across) / 2]
  return [servers === 3 ? [0] : sides, sides]
    .slice(-rows)
    .flatMap((row, i) =>
      row.map(aside => ({ x: stageWidth / 2 + aside, y: top + i * (height + gap.down), width, height })),
    )
}

/**
 * Stacks by the number of their boxes: how many lanes each box leaves free at its left and at its right, and in which lane
 * a line leads past the boxes between its ends. The lane -1 is the first from the right.
 */
const LANES: Readonly<Record<number, { free: readonly (readonly [number, number])[]; lines: Record<string, number> }>> =
  {
    2: {
      free: [
        [0, 0],
        [0, 0],
      ],
      lines: {},
    },
    3: {
      free: [
        [0, 0],
        [1, 0],
        [0, 0],
      ],
      lines: { '1 3': 0 },
    },
    4: {
      free: [
        [0, 0],
        [2, 0],
        [1, 1],
        [0, 0],
      ],
      lines: { '1 3': 1, '1 4': 0, '2 4': -1 },
    },
  }

/** Boxes on each other. Two that are no neighbours see each other beside those between them. */
function stackOf(
  stageWidth: number,
  stageHeight: number,
  token: number,
  servers: number,
): Pick<Layout, 'servers' | 'bypasses'> {
  const { wire, gap, lane } = STACK
  const left = INSET + token + wire.across * stageWidth
  const top = INSET + token + wire.down
  const whole = stageWidth - 2 * left
  const height = (stageHeight - 2 * top - (servers - 1) * gap) / servers
  const { free = [], lines = {} } = LANES[servers] ?? {}
  const boxes = free.map(([before, after], i) => ({
    x: left + (whole + (before - after) * lane) / 2,
    y: top + i * (height + gap) + height / 2,
    width: whole - (before + after) * lane,
    height,
  }))
  const middleOf = (line: number) => (line < 0 ? left + whole : left) + (line + 0.5) * lane
  const bypasses = Object.fromEntries(Object.entries(lines).map(([ends, line]) => [ends, middleOf(line)]))
  return { servers: boxes, bypasses }
}

/** The points of a wire, from the edge of a token, or of a server's box, to the edge of a server's box. */
export type Wire = readonly Point[]

/** Returns the wire from a client to a server, around the other servers. */
export const wireOf = (layout: Layout, client: number, server: number): Wire | undefined =>
  layout.wires[client]?.[server - 1]

/** The distance of a bend from the corner of a box, and the smallest distance of a wire. */
const BEND = { away: 8, least: 4 }

/** Returns the shortest wire from the token at a place to a box, with at most two bends, that crosses no other box. */
function wireTo(box: Box, boxes: readonly Box[], place: Point, token: number): Wire {
  const others = boxes.filter(other => other !== box)
  const corners = others.flatMap(cornersOf)
  const seen = corners.filter(corner => !others.some(other => isCrossed(other, [place, corner])))
  const bends: Point[][] = [[], ...seen.map(one => [one])]
  for (const one of seen) for (const other of corners) if (one !== other) bends.push([one, other])
  const direct = [place, edgeOf(box, place)]
  let [shortest, least]: [Wire, number] = [direct, Infinity]
  for (const between of bends) {
    const last = between.at(-1) ?? place
    for (const end of [edgeOf(box, last), nearestOf(box, last)]) {
      const wire = [place, ...between, end]
      const length = lengthOf(wire)
      if (length < least && !others.some(other => isCrossed(other, wire))) [shortest, least] = [wire, length]
    }
    // Most clients see the middle of the box, and each bend is a detour.
    if (between.length === 0 && least < Infinity) break
  }
  const [, next = place, ...rest] = shortest
  return [along(place, next, token / 2 + 1), next, ...rest]
}

const cornersOf = ({ x, y, width, height }: Box): Point[] =>
  [-1, 1].flatMap(across =>
    [-1, 1].map(down => ({
      x: x + across * (width / 2 + BEND.away),
      y: y + down * (height / 2 + BEND.away),
    })),
  )

/** Returns the point of a box that is the nearest to a point outside of it, but no corner. */
function nearestOf({ x, y, width, height }: Box, to: Point): Point {
  const clamp = (value: number, reach: number) => Math.max(-reach, Math.min(reach, value))
  const [dx, dy] = [clamp(to.x - x, width / 2), clamp(to.y - y, height / 2)]
  const isBeside = Math.abs(dx) === width / 2
  return { x: x + (isBeside ? dx : clamp(dx, width / 2 - 12)), y: y + (isBeside ? clamp(dy, height / 2 - 12) : dy) }
}

/** True if a wire passes through a box, or nearer to it than {@link BEND} says. */
const isCrossed = (box: Box, wire: Wire): boolean => wire.some((to, i) => i > 0 && isHit(box, wire[i - 1] ?? to, to))

/** True if a line passes through a box: there is a part of it that is within both its width and its height. */
function isHit({ x, y, width, height }: Box, from: Point, to: Point): boolean {
  const within = (start: number, end: number, middle: number, size: number): [number, number] => {
    const [low, high] = [middle - size / 2 - BEND.least, middle + size / 2 + BEND.least]
    if (start === end) return start > low && start < high ? [0, 1] : [1, 0]
    const [one, other] = [(low - start) / (end - start), (high - start) / (end - start)]
    return [Math.min(one, other), Math.max(one, other)]
  }
  const across = within(from.x, to.x, x, width)
  const down = within(from.y, to.y, y, height)
  return Math.max(across[0], down[0], 0) < Math.min(across[1], down[1], 1)
}

export function linkBetween(layout: Layout, one: number, other: number): Wire | undefined {
  const [a, b] = [layout.servers[one - 1], layout.servers[other - 1]]
  if (a === undefined || b === undefined) return undefined
  const x = layout.bypasses[`${Math.min(one, other)} ${Math.max(one, other)}`]
  if (x === undefined) return [edgeOf(a, b), edgeOf(b, a)]
  const edge = (box: Box, towards: Box) => box.y + (Math.sign(towards.y - box.y) * box.height) / 2
  return [
    { x, y: edge(a, b) },
    { x, y: edge(b, a) },
  ]
}

/** Returns the straight line from a client to the store. Undefined if the store is not there. */
export function wireToStore({ store, clients, token }: Layout, client: number): Wire | undefined {
  const place = clients[client]
  if (store === undefined || place === undefined) return undefined
  const end = edgeOf(store, place)
  return [along(place, end, token / 2 + 1), end]
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
