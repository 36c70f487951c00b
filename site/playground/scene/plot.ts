// The axes of the plot of costs. They are linear, so that a square looks like a parabola.

export interface Frame {
  width: number
  height: number
  margin: { top: number; right: number; bottom: number; left: number }
}

export interface Scale {
  x: (clients: number) => number
  y: (value: number) => number
  xTicks: readonly number[]
  yTicks: readonly number[]
}

const SMALLEST = { clients: 10, value: 10 }
const TICKS = 4

export function scaleOf(points: readonly { clients: number; value: number }[], frame: Frame): Scale {
  const { width, height, margin } = frame
  const xTicks = ticksUpTo(Math.max(SMALLEST.clients, ...points.map(({ clients }) => clients)))
  const yTicks = ticksUpTo(Math.max(SMALLEST.value, ...points.map(({ value }) => value)))
  const [right, top] = [xTicks.at(-1) ?? 1, yTicks.at(-1) ?? 1]
  return {
    x: clients => margin.left + (clients / right) * (width - margin.left - margin.right),
    y: value => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom),
    ...{ xTicks, yTicks },
  }
}

/** Returns round numbers from 0 until one is at least as large as the largest value. */
export function ticksUpTo(largest: number): number[] {
  const rough = largest / TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough) ?? rough
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, i) => i * step)
}
