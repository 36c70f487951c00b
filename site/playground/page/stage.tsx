import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { describeStage } from '../model/words.ts'
import { dotAt, dotsOf, flightsOf, type Dot } from '../scene/flight.ts'
import { heightOf, layoutOf } from '../scene/layout.ts'
import { linkInAddress } from './address.ts'
import type { Props } from './props.ts'
import { Painter } from './painter.ts'
import { ServerBox } from './server-box.tsx'
import { isStoreUsed, StoreBox } from './store-box.tsx'
import { stillness } from './stillness.ts'
import { Tokens } from './tokens.tsx'

/** How near to a frame a click must be, in pixels. */
const REACH = 16

/** With a narrower box, no server shows more than its name and its tree. */
const NARROW = 200

/** The servers in the middle, the clients around them, and the frames that fly between them. */
export function Stage({ playground }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const wires = useRef<HTMLCanvasElement>(null)
  const flights = useRef<HTMLCanvasElement>(null)
  const dots = useRef<readonly Dot[]>([])
  const width = useWidth(frame)
  const { picture } = playground
  const { clients } = picture.story.scenario
  const servers = picture.servers.length
  const height = useHeight(heightOf(width, servers), servers)
  const layout = useMemo(() => layoutOf(width, height, clients, servers), [width, height, clients, servers])
  const isNarrow = layout.servers.some(box => box.width < NARROW)

  useEffect(() => {
    // The width is known after the first rendering.
    if (wires.current === null || flights.current === null || layout.width === 0) return undefined
    const painter = new Painter(wires.current, flights.current, layout)
    let last = performance.now()
    let isEnded = false
    let request = requestAnimationFrame(function draw(now) {
      const still = stillness.matches
      const passed = now - last
      last = now
      void playground.tick(passed, still).then(() => {
        if (isEnded) return
        const { picture, now, flying, landing } = playground.view
        dots.current = dotsOf(flightsOf(layout, flying, picture.messages), now, still)
        painter.paint(picture, dots.current, still ? [] : landing)
        request = requestAnimationFrame(draw)
      })
    })
    return () => {
      isEnded = true
      cancelAnimationFrame(request)
    }
  }, [playground, layout])

  return (
    <div
      class="stage"
      style={{ height: `${height}px` }}
      ref={frame}
      role="group"
      aria-label="Stage"
      onClick={event => {
        const box = event.currentTarget.getBoundingClientRect()
        const dot = dotAt(dots.current, { x: event.clientX - box.left, y: event.clientY - box.top }, REACH)
        if (dot?.n !== undefined) playground.select({ kind: 'frame', n: dot.n })
        else if (dot?.message !== undefined) playground.select({ kind: 'message', n: dot.message.n })
      }}
    >
      <canvas ref={wires} aria-hidden="true" />
      <p class="hidden">{describeStage(picture, playground.view.flying.length)}</p>
      <Tokens playground={playground} layout={layout} />
      {picture.servers.map(server => {
        const box = layout.servers[server.id - 1]
        return (
          box && <ServerBox key={server.id} playground={playground} server={server} box={box} isNarrow={isNarrow} />
        )
      })}
      {layout.store && isStoreUsed(picture) && <StoreBox picture={picture} box={layout.store} />}
      <canvas class="flights" ref={flights} aria-hidden="true" />
    </div>
  )
}

/** What is above and below the stage: in a full screen, and in a window that holds the stage beside the lesson. */
const BESIDE = { fullScreen: 150, window: 340 }
/** The least heights of a stage in such a window. */
const LEAST = { one: 460, several: 560 }

/** Returns the height of the stage: all of a full screen, and no more than what a window shows with the counters. */
function useHeight(own: number, servers: number): number {
  const [room, setRoom] = useState(roomOf)
  useEffect(() => {
    const look = () => setRoom(roomOf())
    addEventListener('resize', look)
    document.addEventListener('fullscreenchange', look)
    return () => {
      removeEventListener('resize', look)
      document.removeEventListener('fullscreenchange', look)
    }
  }, [])
  const least = servers > 1 ? LEAST.several : LEAST.one
  return Math.max(Math.min(own, Math.max(least, room.most)), room.least)
}

function roomOf(): { least: number; most: number } {
  if (document.fullscreenElement !== null) return { least: innerHeight - BESIDE.fullScreen, most: Infinity }
  const isBesideLesson = matchMedia('(min-width: 1080px)').matches && !linkInAddress().isEmbedded
  return { least: 0, most: isBesideLesson ? innerHeight - BESIDE.window : Infinity }
}

function useWidth(frame: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (frame.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)))
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])
  return width
}
