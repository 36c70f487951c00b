// What the painter draws, as the elements of an SVG instead of the pixels of a canvas.

/** A path that a canvas can draw, and that an SVG can contain. */
export class DrawnPath extends Path2D {
  readonly data: string

  constructor(data: string) {
    super(data)
    this.data = data
  }
}

/** What the painter needs of the context of a canvas. */
export interface Surface extends Pick<
  CanvasRenderingContext2D,
  | 'strokeStyle'
  | 'fillStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'globalAlpha'
  | 'globalCompositeOperation'
  | 'font'
  | 'textAlign'
  | 'beginPath'
  | 'lineTo'
  | 'arc'
  | 'setLineDash'
  | 'translate'
  | 'strokeText'
  | 'fillText'
> {
  stroke(path?: DrawnPath): void
  fill(path: DrawnPath): void
}

export class SvgSurface implements Surface {
  strokeStyle = '#000'
  fillStyle = '#000'
  lineWidth = 1
  lineJoin: CanvasLineJoin = 'miter'
  globalAlpha = 1
  /** Not drawn: what erases has the colour of the paper anyway. */
  globalCompositeOperation: GlobalCompositeOperation = 'source-over'
  font = ''
  textAlign: CanvasTextAlign = 'left'
  readonly elements: string[] = []
  #data = ''
  #dash: number[] = []
  #at = { x: 0, y: 0 }

  beginPath(): void {
    this.#data = ''
  }

  lineTo(x: number, y: number): void {
    this.#data += `${this.#data === '' ? 'M' : 'L'}${short(x)},${short(y)}`
  }

  /** An arc of a circle, clockwise. A whole circle needs two arcs. */
  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const parts = to - from > Math.PI ? [from, (from + to) / 2, to] : [from, to]
    const points = parts.map(angle => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)].map(short).join(','))
    this.#data += points
      .map((point, i) => (i === 0 ? `M${point}` : `A${short(radius)},${short(radius)},0,0,1,${point}`))
      .join('')
  }

  setLineDash(dash: number[]): void {
    this.#dash = dash
  }

  translate(x: number, y: number): void {
    this.#at = { x: this.#at.x + x, y: this.#at.y + y }
  }

  stroke(path?: DrawnPath): void {
    const dash = this.#dash.length > 0 ? { 'stroke-dasharray': this.#dash.join(' ') } : {}
    this.#add('path', { d: path?.data ?? this.#data, fill: 'none', ...this.#strokes, ...dash, ...this.#placed(path) })
  }

  fill(path: DrawnPath): void {
    this.#add('path', { d: path.data, fill: this.fillStyle, ...this.#placed(path) })
  }

  strokeText(text: string, x: number, y: number): void {
    this.#text(text, x, y, { fill: 'none', ...this.#strokes })
  }

  fillText(text: string, x: number, y: number): void {
    this.#text(text, x, y, { fill: this.fillStyle })
  }

  get #strokes(): Attributes {
    return { stroke: this.strokeStyle, 'stroke-width': this.lineWidth, 'stroke-linejoin': this.lineJoin }
  }

  /** Only paths of their own are drawn around the origin. */
  #placed(path: DrawnPath | undefined): Attributes {
    return path === undefined ? {} : { transform: `translate(${short(this.#at.x)},${short(this.#at.y)})` }
  }

  #text(text: string, x: number, y: number, colours: Attributes): void {
    const anchor = this.textAlign === 'right' ? 'end' : 'start'
    this.#add('text', { x: short(x), y: short(y), 'text-anchor': anchor, style: `font:${this.font}`, ...colours }, text)
  }

  #add(name: string, attributes: Attributes, text?: string): void {
    const alpha = this.globalAlpha < 1 ? { opacity: short(this.globalAlpha) } : {}
    this.elements.push(elementOf(name, { ...attributes, ...alpha }, text === undefined ? '' : xml(text)))
  }
}

export type Attributes = Readonly<Record<string, string | number>>

/** @param content is XML already */
export function elementOf(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${xml(String(value))}"`)
  return content === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Leaves out the characters that XML cannot have. */
export const xml = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t\n]/gu, '').replaceAll(/[&<>"]/g, character => ENTITIES[character] ?? '')

/** A tenth of a pixel suffices. */
export const short = (pixels: number): number => Math.round(pixels * 10) / 10
