// The tables of which a reader of the page chooses two columns. Pure, and free of modules of Node.js, because the page uses it.
// May import: bench/output, bench/peers/result.ts, bench/report, bench/services, esbuild.

/** A row: the lock, and its figures by the names of their columns. */
export interface Observation {
  lock: string
  figures: Readonly<Record<string, number>>
}

export interface Dataset {
  name: string
  observations: readonly Observation[]
}

/** Returns the columns that a reader can choose, in the order in which they first occur. */
export const columnsOf = ({ observations }: Dataset): string[] => [
  ...new Set(observations.flatMap(({ figures }) => Object.keys(figures))),
]

export interface Point {
  lock: string
  x: number
  y: number
}

/**
 * Returns a point for each row that has both figures, in the order of x within each lock.
 * @param isLogarithmic true for a scale that has no place for figures of 0 and less
 */
export const pointsOf = (
  { observations }: Dataset,
  [x, y]: readonly [x: string, y: string],
  isLogarithmic: boolean,
): Point[] =>
  observations
    .flatMap(({ lock, figures: { [x]: atX, [y]: atY } }) =>
      atX === undefined || atY === undefined || (isLogarithmic && Math.min(atX, atY) <= 0)
        ? []
        : [{ lock, x: atX, y: atY }],
    )
    .toSorted((a, b) => a.x - b.x)
