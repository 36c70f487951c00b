// Paints what changes at each drawing: wires, leases, frames.
import type { ClientPicture, Picture, ServerPicture } from '../../world/picture.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import { holds } from '../model/words.ts'
import { CROSS, GLYPHS, type Kind } from '../scene/glyphs.ts'
import type { Dot } from '../scene/flight.ts'
import { DrawnPath, type Surface } from './svg-surface.ts'
import { linkBetween, wireOf, wireToStore, type Layout, type Point, type Wire } from '../scene/layout.ts'

/** The part of the lease below which it is shown as short. */
const SHORT = 1 / 3
const COLOURS = [
  'paper',
  'wire',
  'mark',
  'event',
  'answer',
  'request',
  'connect',
  'ping',
  'replication',
  'lease',
] as const
type Colour = (typeof COLOURS)[number]

const KIND_COLOURS: Readonly<Record<Kind, Colour>> = {
  connect: 'connect',
  request: 'request',
  answer: 'answer',
  notification: 'event',
  ping: 'ping',
  replication: 'replication',
}

/** A frame that has arrived, and the part of the moment that has passed since. */
export interface Landing {
  frame: WireFrame
  age: number
}

export class Painter {
  /** The contexts of the canvases. */
  readonly #own: readonly [wires: CanvasRenderingContext2D, flights: CanvasRenderingContext2D]
  /** What is drawn on now. */
  #wires: Surface
  #flights: Surface
  readonly #layout: Layout
  readonly #colours = new Map<Colour, string>()
  readonly #paths = new Map(Object.entries(GLYPHS).map(([kind, { path }]) => [kind, new DrawnPath(path)]))
  readonly #cross = new DrawnPath(CROSS)
  readonly #dark = matchMedia('(prefers-color-scheme: dark)')
  #isDark: boolean | undefined
  #scale = 0

  /**
   * @param wires the canvas behind the servers
   * @param flights the canvas before them, so that no server hides a frame
   */
  constructor(wires: HTMLCanvasElement, flights: HTMLCanvasElement, layout: Layout) {
    this.#own = [contextOf(wires), contextOf(flights)]
    ;[this.#wires, this.#flights] = this.#own
    this.#layout = layout
  }

  paint(picture: Picture, dots: readonly Dot[], landing: readonly Landing[]): void {
    this.#chooseColours()
    this.#scaleCanvases()
    for (const context of this.#own) context.clearRect(0, 0, this.#layout.width, this.#layout.height)
    this.#draw(picture, dots, landing)
    // Tells tests, and pages around this one, which frames were painted.
    this.#own[1].canvas.dispatchEvent(new CustomEvent('painted', { detail: dots }))
  }

  /** Draws the same on other surfaces. The canvases stay as they are. */
  drawOn(wires: Surface, flights: Surface, picture: Picture, dots: readonly Dot[], landing: readonly Landing[]): void {
    this.#chooseColours()
    ;[this.#wires, this.#flights] = [wires, flights]
    this.#draw(picture, dots, landing)
    ;[this.#wires, this.#flights] = this.#own
  }

  #draw(picture: Picture, dots: readonly Dot[], landing: readonly Landing[]): void {
    this.#links(picture)
    this.#lastWrite(picture)
    for (const client of picture.clients) this.#wire(client)
    for (const client of picture.clients) this.#lease(client)
    for (const each of landing) this.#landing(each)
    for (const dot of dots) this.#dot(dot)
    for (const dot of dots) this.#label(dot)
  }

  #chooseColours(): void {
    if (this.#isDark === this.#dark.matches) return
    this.#isDark = this.#dark.matches
    const style = getComputedStyle(this.#own[0].canvas)
    for (const colour of COLOURS) this.#colours.set(colour, style.getPropertyValue(`--${colour}`))
  }

  #scaleCanvases(): void {
    if (this.#scale === devicePixelRatio) return
    this.#scale = devicePixelRatio
    for (const context of this.#own) {
      context.canvas.width = this.#layout.width * this.#scale
      context.canvas.height = this.#layout.height * this.#scale
      context.scale(this.#scale, this.#scale)
    }
  }

  #stroke(wire: Wire, colour: Colour, width: number, dash: number[] = []): void {
    const context = this.#wires
    context.beginPath()
    for (const { x, y } of wire) context.lineTo(x, y)
    context.strokeStyle = this.#colour(colour)
    context.lineWidth = width
    context.setLineDash(dash)
    context.stroke()
    context.setLineDash([])
  }

  #links({ servers }: Picture): void {
    for (const one of servers)
      for (const other of servers) {
        // A stopped server has no connections, and a file does not have those of its servers.
        const isLinked = one.id < other.id && hasLinks(one) && hasLinks(other)
        const link = isLinked ? linkBetween(this.#layout, one.id, other.id) : undefined
        const isCut = one.isCutOff || other.isCutOff
        if (link === undefined) continue
        // Of two lines that cross, the second leads over the first, as a bridge: it leaves a gap in it.
        this.#wires.globalCompositeOperation = 'destination-out'
        this.#stroke(link, 'paper', 11)
        this.#wires.globalCompositeOperation = 'source-over'
        this.#stroke(link, isCut ? 'event' : 'replication', isCut ? 1 : 3, isCut ? [2, 8] : [])
      }
  }

  /** Leads from the store to the client that has written last. */
  #lastWrite({ store }: Picture): void {
    const last = store.writes.at(-1)
    const wire = last && wireToStore(this.#layout, last.client)
    if (wire !== undefined) this.#stroke(wire, last?.isAccepted === true ? 'answer' : 'event', 2, [3, 5])
  }

  #wire(client: ClientPicture): void {
    const wire = client.server === undefined ? undefined : wireOf(this.#layout, client.id, client.server)
    if (wire === undefined || client.process === 'dead') return
    if (client.unpluggedUntil !== undefined) this.#stroke(wire, 'event', 1.5, [2, 7])
    else if (client.state !== 'connected') this.#stroke(wire, 'wire', 1.5, [4, 5])
    else if (holds(client)) this.#stroke(wire, 'mark', 3)
    else this.#stroke(wire, 'wire', 1.5)
  }

  /** Draws how much of the lease is left, clockwise from the top. */
  #lease({ id, lease, process, session }: ClientPicture): void {
    const place = this.#layout.clients[id]
    if (place === undefined || session === undefined || process === 'dead' || lease.of === 0) return
    const left = Math.max(0, Math.min(1, lease.left / lease.of))
    const radius = this.#layout.token / 2 + 1
    this.#arc(this.#wires, place, radius, left, left < SHORT ? 'event' : 'lease')
  }

  #arc(context: Surface, { x, y }: Point, radius: number, part: number, colour: Colour): void {
    context.beginPath()
    context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + part * 2 * Math.PI)
    context.strokeStyle = this.#colour(colour)
    context.lineWidth = 3
    context.stroke()
  }

  /** A ring that grows where a frame has just arrived at a client. */
  #landing({ frame, age }: Landing): void {
    const place = this.#layout.clients[frame.client]
    if (place === undefined) return
    const context = this.#flights
    context.globalAlpha = 0.7 * (1 - age)
    this.#arc(context, place, this.#layout.token / 2 + 3 + age * 9, 1, KIND_COLOURS[frame.kind])
    context.globalAlpha = 1
  }

  #dot({ x, y, kind, lost }: Dot): void {
    const context = this.#flights
    const path = lost ? this.#cross : this.#paths.get(kind)
    if (path === undefined) return
    const colour = this.#colour(KIND_COLOURS[kind])
    context.translate(x, y)
    // A rim in the colour of the paper separates the shape from wires and other shapes.
    context.strokeStyle = this.#colour('paper')
    context.lineWidth = lost ? 6 : 4
    context.lineJoin = 'round'
    context.stroke(path)
    const isHollow = lost || GLYPHS[kind].hollow
    context.fillStyle = isHollow ? this.#colour('paper') : colour
    if (!lost) context.fill(path)
    context.strokeStyle = lost ? this.#colour('event') : colour
    context.lineWidth = lost ? 3 : 2
    if (isHollow) context.stroke(path)
    context.translate(-x, -y)
  }

  /** Writes the kind of a message between servers beside it. */
  #label({ x, y, message }: Dot): void {
    if (message === undefined || message.kind === 'ping' || message.kind === 'pong') return
    const context = this.#flights
    context.font = '600 12px system-ui, sans-serif'
    context.strokeStyle = this.#colour('paper')
    context.lineWidth = 4
    context.lineJoin = 'round'
    // Messages that meet have their words on different sides.
    const isRight = message.from < message.to
    context.textAlign = isRight ? 'left' : 'right'
    const at = [x + (isRight ? 10 : -10), y - 8] as const
    context.strokeText(message.kind, ...at)
    context.fillStyle = this.#colour('replication')
    context.fillText(message.kind, ...at)
  }

  #colour(colour: Colour): string {
    return this.#colours.get(colour) ?? '#808080'
  }
}

const hasLinks = ({ mode }: ServerPicture): boolean => mode !== 'stopped' && mode !== 'unknown'

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('this browser cannot draw on a canvas')
  return context
}
