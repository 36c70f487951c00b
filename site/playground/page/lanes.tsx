import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { describeHolding, plural } from '../model/words.ts'
import { STAR } from '../scene/glyphs.ts'
import { barsOf, COLUMN, columnOf, columnsIn, laneHeightOf } from '../scene/lanes.ts'
import type { Props } from './props.ts'
import { Glyph } from './glyph.tsx'

/** How near to its right end the lanes must be scrolled to follow new frames. */
const FOLLOW = 4 * COLUMN
const TOP = 10
/** How many of the last holdings are told to a screen reader. */
const TOLD = 5

/** A lane for each client, a column for each frame. Only the columns in the window are drawn. */
export function Lanes({ playground }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const [{ scrolled, seen }, setWindow] = useState({ scrolled: 0, seen: 0 })
  const { frames, picture, selection } = playground
  const clients = picture.clients.map(({ id }) => id)
  const count = picture.story.scenario.clients
  const lane = laneHeightOf(count)
  const yOf = (client: number) => TOP + (client === 0 ? count : client - 1) * lane + lane / 2
  const width = Math.max(seen, frames.length * COLUMN + 3 * COLUMN)
  const height = TOP + (count + (clients.includes(0) || frames.some(({ client }) => client === 0) ? 1 : 0)) * lane + 6

  const look = () => {
    const element = scroller.current
    if (element === null) return
    follows.current = element.scrollLeft + element.clientWidth > element.scrollWidth - FOLLOW
    setWindow({ scrolled: element.scrollLeft, seen: element.clientWidth })
  }
  useEffect(() => {
    const observer = new ResizeObserver(look)
    if (scroller.current !== null) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (follows.current && scroller.current !== null) scroller.current.scrollLeft = width
  }, [width])
  const chosen = selection?.kind === 'frame' ? selection.n : undefined
  useLayoutEffect(() => {
    const element = scroller.current
    if (chosen === undefined || element === null) return
    const x = columnOf(chosen)
    if (x < element.scrollLeft || x > element.scrollLeft + element.clientWidth)
      element.scrollLeft = x - element.clientWidth / 2
  }, [chosen])

  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0 || frames.length === 0) return
    event.preventDefault()
    const n = chosen === undefined ? frames.length : Math.max(1, Math.min(frames.length, chosen + by))
    playground.select({ kind: 'frame', n })
  }
  const { first, end } = columnsIn(frames.length, scrolled, seen)
  const bars = barsOf(picture.holdings, frames)
  const names = Array.from({ length: count }, (_, i) => i + 1).filter(id => lane >= 18 || id % 5 === 0 || id === 1)
  return (
    <section class="panel lanes" aria-labelledby="lanes-title">
      <h2 id="lanes-title">
        Frame by frame <span class="faint">{plural(frames.length, 'frame')}, in the order in which they were sent</span>
      </h2>
      <div class="lanes-frame">
        <svg class="names" width="34" height={height} aria-hidden="true">
          {names.map(id => (
            <text key={id} x="28" y={yOf(id) + 4} text-anchor="end">
              {id}
            </text>
          ))}
        </svg>
        <div
          class="lanes-scroll"
          ref={scroller}
          onScroll={look}
          onKeyDown={onKey}
          tabIndex={0}
          role="group"
          data-keys
          aria-label="Lanes: the arrow keys choose the frame before and the next"
        >
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={[
              `${plural(frames.length, 'frame')} in lanes of ${plural(count, 'client')}`,
              ...picture.holdings.slice(-TOLD).map(describeHolding),
            ].join('; ')}
          >
            {Array.from({ length: count }, (_, i) => (
              <line key={i} x1="0" x2={width} y1={yOf(i + 1)} y2={yOf(i + 1)} class="lane" />
            ))}
            {bars.map(({ holding, from, sure, to }) => (
              <g key={`${holding.client} ${holding.at}`} data-holder={holding.client}>
                <title>{describeHolding(holding)}</title>
                {[
                  { class: 'holding', x: from, width: sure - from },
                  { class: 'holding believed', x: sure, width: to - sure },
                ].map(part => (
                  <rect key={part.class} {...part} y={yOf(holding.client) - lane / 3} height={(2 * lane) / 3} />
                ))}
              </g>
            ))}
            {chosen !== undefined && (
              <rect class="chosen" x={columnOf(chosen) - COLUMN / 2} y="0" width={COLUMN} height={height} />
            )}
            {frames.slice(first, end).map(({ n, client, kind, op, lostAt }) => (
              <g
                key={n}
                data-frame={n}
                data-kind={kind}
                class={lostAt === undefined ? '' : 'lost'}
                transform={`translate(${columnOf(n)},${yOf(client)}) scale(${lane < 18 ? 0.75 : 0.95})`}
                onClick={() => playground.select({ kind: 'frame', n })}
              >
                <rect class="hit" x="-8" y="-12" width="16" height="24" />
                <Glyph kind={kind} />
                <title>{`frame ${n}: ${kind} ${op === kind ? '' : op}, client ${client}`}</title>
              </g>
            ))}
            {bars.map(({ holding, from }) => (
              <path
                key={`${holding.client} ${holding.at}`}
                class="star"
                d={STAR}
                transform={`translate(${from},${yOf(holding.client)}) scale(${lane < 18 ? 0.7 : 0.9})`}
              >
                <title>{describeHolding(holding)}</title>
              </path>
            ))}
          </svg>
        </div>
      </div>
    </section>
  )
}
