// The present drawing of the stage as one SVG that needs no other file: what the canvases show, and what the page has
// between them.
import type { Playground } from '../model/playground.ts'
import { describeStage, seconds } from '../model/words.ts'
import { dotsOf, flightsOf } from '../scene/flight.ts'
import { layoutOf } from '../scene/layout.ts'
import { Painter } from './painter.ts'
import { saveFile } from './save-file.ts'
import { stillness } from './stillness.ts'
import { elementOf, short, SvgSurface, xml, type Attributes } from './svg-surface.ts'

/** Lets the browser save the stage as a file. */
export function saveStage(playground: Playground): void {
  const stage = document.querySelector<HTMLElement>('.stage')
  if (stage === null) return
  const { capture, story, picture } = playground
  const name = capture === undefined ? story.scenario.recipe : capture.name.replaceAll(/[^\w.-]/g, '_')
  saveFile(`${name}-${(picture.now / 1000).toFixed(3)}s.svg`, 'image/svg+xml', stageSvg(playground, stage))
}

/** Says what the stage shows. */
export const pictureOf = ({ view: { now, picture, flying } }: Playground): string =>
  `${seconds(now)}: ${describeStage(picture, flying.length)}`

/** @param stage the stage of this playground, as the page has laid it out */
export function stageSvg(playground: Playground, stage: HTMLElement): string {
  const { view, story } = playground
  const { picture, now, flying, landing } = view
  const [width, height] = [stage.clientWidth, stage.clientHeight]
  const layout = layoutOf(width, height, story.scenario.clients, picture.servers.length)
  const [wires, flights] = stage.querySelectorAll('canvas')
  if (wires === undefined || flights === undefined) return ''
  const still = stillness.matches
  const dots = dotsOf(flightsOf(layout, flying, picture.messages), now, still)
  const [below, above] = [new SvgSurface(), new SvgSurface()]
  new Painter(wires, flights, layout).drawOn(below, above, picture, dots, still ? [] : landing)
  const paper = getComputedStyle(document.body).backgroundColor
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    elementOf('title', {}, xml(pictureOf(playground))),
    elementOf('rect', { width, height, fill: paper }),
    ...below.elements,
    ...new PageDrawing(stage).elements,
    ...above.elements,
    '</svg>\n',
  ].join('\n')
}

/** The properties that shapes of the page have from its style sheet. */
const SHAPE_STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-linecap', 'stroke-linejoin'] as const
const DASHES: Readonly<Record<string, string>> = { dashed: '5 4', dotted: '1.5 3' }

/** The elements of the page within the stage, as the browser has laid them out. */
class PageDrawing {
  readonly elements: string[] = []
  readonly #origin: DOMRect
  readonly #ruler = document.createElement('canvas').getContext('2d')
  #clips = 0

  constructor(stage: HTMLElement) {
    this.#origin = stage.getBoundingClientRect()
    for (const child of stage.children) this.#draw(child)
  }

  #draw(element: Element): void {
    const style = getComputedStyle(element)
    // What only screen readers have is one pixel large.
    if (element instanceof HTMLCanvasElement || element.classList.contains('hidden') || style.display === 'none') return
    if (element instanceof SVGSVGElement) return this.#shapes(element)
    const box = this.#placed(element.getBoundingClientRect())
    const isFaded = Number(style.opacity) < 1
    const isClipped = style.overflowX !== 'visible' && style.display !== 'inline'
    if (isFaded) this.elements.push(`<g opacity="${style.opacity}">`)
    this.#box(box, style)
    if (isClipped) this.#clip(box, style)
    for (const child of element.childNodes)
      if (child instanceof Element) this.#draw(child)
      else if (child instanceof Text) this.#text(child, style)
    if (isClipped) this.elements.push('</g>')
    if (isFaded) this.elements.push('</g>')
  }

  #placed({ left, top, width, height }: DOMRect): Box {
    return { x: left - this.#origin.left, y: top - this.#origin.top, width, height }
  }

  /** What is within a box does not cover its border. */
  #clip({ x, y, width, height }: Box, style: CSSStyleDeclaration): void {
    const id = `clip-${++this.#clips}`
    const border = Number.parseFloat(style.borderLeftWidth)
    const rect = elementOf('rect', {
      ...{ x: short(x + border), y: short(y + border) },
      ...{ width: short(width - 2 * border), height: short(height - 2 * border) },
      rx: short(Math.max(0, radiusOf(style, width, height) - border)),
    })
    this.elements.push(elementOf('clipPath', { id }, rect), `<g clip-path="url(#${id})">`)
  }

  #box({ x, y, width, height }: Box, style: CSSStyleDeclaration): void {
    const sides = (['Top', 'Right', 'Bottom', 'Left'] as const).map(side => ({
      width: style[`border${side}Style`] === 'none' ? 0 : Number.parseFloat(style[`border${side}Width`]),
      colour: style[`border${side}Color`],
      dash: DASHES[style[`border${side}Style`]],
    }))
    const [top, right, bottom, left] = sides
    if (top === undefined || right === undefined || bottom === undefined || left === undefined) return
    const isFrame = top.width > 0 && sides.every(side => side.width === top.width)
    const half = isFrame ? top.width / 2 : 0
    const fill = isVisible(style.backgroundColor) ? style.backgroundColor : 'none'
    const radius = radiusOf(style, width, height)
    if (fill !== 'none' || isFrame)
      this.elements.push(
        elementOf('rect', {
          ...{ x: short(x + half), y: short(y + half) },
          ...{
            width: short(width - 2 * half),
            height: short(height - 2 * half),
            rx: short(Math.max(0, radius - half)),
            fill,
          },
          ...(isFrame && isVisible(top.colour) ? strokeOf(top) : {}),
        }),
      )
    if (isFrame) return
    const lines = [
      `M${short(x)},${short(y)}h${short(width)}`,
      `M${short(x + width)},${short(y)}v${short(height)}`,
      `M${short(x)},${short(y + height)}h${short(width)}`,
      `M${short(x)},${short(y)}v${short(height)}`,
    ]
    for (const [i, side] of sides.entries())
      if (side.width > 0 && isVisible(side.colour))
        this.elements.push(elementOf('path', { d: lines[i] ?? '', fill: 'none', ...strokeOf(side) }))
  }

  /** Draws each line of a text. Its length is that of this browser, because another one may have other letters. */
  #text(node: Text, style: CSSStyleDeclaration): void {
    if (node.data.trim() === '' || this.#ruler === null) return
    this.#ruler.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = this.#ruler.measureText('x')
    for (const { text, rect } of linesOf(node)) {
      const { x, y, width, height } = this.#placed(rect)
      this.elements.push(
        elementOf(
          'text',
          {
            x: short(x),
            y: short(y + (height + ascent - descent) / 2),
            textLength: short(width),
            lengthAdjust: 'spacingAndGlyphs',
            fill: style.color,
            style: `font-family:${style.fontFamily};font-size:${style.fontSize};font-weight:${style.fontWeight}`,
          },
          xml(text),
        ),
      )
    }
  }

  #shapes(svg: SVGSVGElement): void {
    const { x, y, width, height } = this.#placed(svg.getBoundingClientRect())
    const shapes = [...svg.querySelectorAll('path, circle')].map(shape => {
      const style = getComputedStyle(shape)
      const own = Object.fromEntries(
        ['d', 'r'].flatMap(name => (shape.hasAttribute(name) ? [[name, shape.getAttribute(name) ?? '']] : [])),
      )
      return elementOf(shape.tagName, {
        ...own,
        ...Object.fromEntries(SHAPE_STYLES.map(name => [name, style.getPropertyValue(name)])),
      })
    })
    const place = { x: short(x), y: short(y), width: short(width), height: short(height) }
    this.elements.push(elementOf('svg', { ...place, viewBox: svg.getAttribute('viewBox') ?? '' }, shapes.join('')))
  }
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

const strokeOf = ({
  width,
  colour,
  dash,
}: {
  width: number
  colour: string
  dash: string | undefined
}): Attributes => ({
  ...{ stroke: colour, 'stroke-width': width },
  ...(dash === undefined ? {} : { 'stroke-dasharray': dash }),
})

function radiusOf({ borderTopLeftRadius: radius }: CSSStyleDeclaration, width: number, height: number): number {
  const pixels = Number.parseFloat(radius) * (radius.endsWith('%') ? width / 100 : 1)
  return Math.min(pixels, width / 2, height / 2)
}

const isVisible = (colour: string): boolean => colour !== 'transparent' && !/^rgba\(.*, 0\)$/.test(colour)

/** Returns the lines of a text as the browser has broken it, without the white space around them. */
function linesOf(node: Text): { text: string; rect: DOMRect }[] {
  const range = document.createRange()
  const lines: { text: string; rect: DOMRect }[] = []
  let spaces = ''
  for (let i = 0; i < node.length; i++) {
    const character = node.data.charAt(i)
    if (character.trim() === '') {
      spaces = ' '
      continue
    }
    range.setStart(node, i)
    range.setEnd(node, i + 1)
    const [rect] = range.getClientRects()
    if (rect === undefined) continue
    const last = lines.at(-1)
    if (last === undefined || Math.abs(last.rect.top - rect.top) > rect.height / 2)
      lines.push({ text: character, rect })
    else {
      last.text += spaces + character
      last.rect = new DOMRect(last.rect.left, last.rect.top, rect.right - last.rect.left, last.rect.height)
    }
    spaces = ''
  }
  return lines
}
