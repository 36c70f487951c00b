// The lanes below the stage: a lane for each client, a column for each frame, as in the report of the benchmark.
import type { Holding } from '../../world/picture.ts'
import type { WireFrame } from '../../world/wire-frame.ts'

export const COLUMN = 15
/** Columns outside of the window that are drawn too, so that scrolling shows no gap. */
const MARGIN = 6

/** Returns the height of a lane, so that few lanes are comfortable and sixty fit on a screen. */
export const laneHeightOf = (clients: number): number => Math.max(13, Math.min(26, Math.floor(320 / clients)))

/** Returns the range of frames, as indices, whose columns are in a window of the lanes. */
export function columnsIn(frames: number, scrolled: number, width: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(scrolled / COLUMN) - MARGIN)
  return { first, end: Math.min(frames, Math.ceil((scrolled + width) / COLUMN) + MARGIN) }
}

/** Returns the x of the middle of a frame's column. */
export const columnOf = (n: number): number => (n - 0.5) * COLUMN

/** A bar in the lane of a client, for the time in which it holds. */
export interface Bar {
  holding: Holding
  from: number
  /** Where it ends, or from where on the client only believes that it holds. */
  sure: number
  to: number
}

/** Returns a bar for each holding. That of a client that still holds ends with the last column. */
export const barsOf = (holdings: readonly Holding[], frames: readonly WireFrame[]): Bar[] =>
  holdings.map(holding => {
    const { at, lostAt, until } = holding
    const end = until === undefined ? frames.length + 1 : sentUntil(frames, until)
    const sure = lostAt === undefined ? end : sentUntil(frames, lostAt)
    return { holding, from: sentUntil(frames, at) * COLUMN, sure: sure * COLUMN, to: end * COLUMN }
  })

/** Returns how many frames were sent before or at this time. */
function sentUntil(frames: readonly WireFrame[], at: number): number {
  let [low, high] = [0, frames.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((frames[middle]?.sentAt ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}
