// The geometry of a history: a bar for each operation, in the lane of its client. Times are in order, and not to scale:
// an operation of milliseconds would not be seen beside one of seconds.
import type { NodeHistory, NodeOperation } from '../../history/node-history.ts'

export const WIDTH = 360
export const BAR = 12
const [LEFT, RIGHT, TOP, LANE] = [70, 8, 18, 38]

export interface HistoryChart {
  readonly height: number
  readonly lanes: readonly { readonly client: number; readonly y: number }[]
  readonly bars: readonly {
    readonly operation: NodeOperation
    readonly x: number
    readonly y: number
    readonly width: number
  }[]
  /** The moments of an order, each at its bar. */
  readonly points: readonly { readonly operation: NodeOperation; readonly x: number; readonly y: number }[]
}

export function historyChartOf({ operations, verdict }: NodeHistory): HistoryChart {
  const clients = [...new Set(operations.map(({ client }) => client))].sort((a, b) => a - b)
  const yOf = (client: number) => TOP + LANE * clients.indexOf(client) + 26
  const times = [...new Set(operations.flatMap(({ from, until = from }) => [from, until]))].sort((a, b) => a - b)
  // An operation without a result ends at the right edge.
  const step = (WIDTH - LEFT - RIGHT) / times.length
  const xOf = (time: number) => {
    const next = times.findIndex(each => each >= time)
    const [before, after] = [times[next - 1] ?? time, times[next] ?? time]
    return LEFT + step * (next - (after === before ? 0 : (after - time) / (after - before)))
  }
  return {
    height: TOP + LANE * clients.length,
    lanes: clients.map(client => ({ client, y: yOf(client) })),
    bars: operations.map(operation => {
      const { client, from, until } = operation
      const x = xOf(from)
      return { operation, x, y: yOf(client), width: (until === undefined ? WIDTH : xOf(until)) - x }
    }),
    points: (verdict?.order ?? []).map(({ operation, at }) => ({ operation, x: xOf(at), y: yOf(operation.client) })),
  }
}
