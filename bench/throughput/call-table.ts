// The comparison of calls with another commit: a table, and what got slower. Pure.
import { intervalOf, ratioOf, type Ratio } from '../measure/ratio.ts'
import { median } from '../measure/statistics.ts'
import type { Sample } from '../processes/turns.ts'
import { figureOf, type Samples } from './verdict.ts'
import type { Figure, SubjectName } from './workloads.ts'

/** A cost that grew by less than this share is not reported. */
const ALLOWED = 0.05

/**
 * A cost is reported if its whole interval is above the allowed share. The interval is wide, because sixteen ratios are
 * judged at once.
 */
const CONFIDENCE = 0.99

/** The figures that are judged. On a real server, the time of a call is the time of the server. */
const JUDGED = { CPU: 'cpu', time: 'ms' } as const satisfies Record<string, Figure>
const isJudged = (figure: Figure, workload: string) => figure === 'cpu' || workload.endsWith(', mock')

type BySubject = ReadonlyMap<SubjectName, readonly Sample[]>

const ratio = (
  by: BySubject,
  figure: Figure,
  to: SubjectName,
  confidence?: number,
  of: SubjectName = 'zkwire',
): Ratio => {
  const figures = (name: SubjectName) => (by.get(name) ?? []).map(figureOf[figure])
  return ratioOf(figures(of), figures(to), confidence)
}

export function callTableOf(samples: Samples): string {
  const cells = (name: string, costs: readonly string[], ratios: readonly string[]) =>
    [name.padEnd(26), ...costs.map(each => each.padStart(8)), ...ratios.map(each => each.padStart(22))].join('')
  const lines = [...samples].map(([workload, by]) => {
    const cost = (name: SubjectName) => fixed(median((by.get(name) ?? []).map(figureOf.cpu)))
    const ratios = [
      ratio(by, 'cpu', 'lean'),
      ratio(by, 'cpu', 'lean', undefined, 'floor'),
      ratio(by, 'cpu', 'before'),
      ratio(by, 'ms', 'before'),
    ]
    return cells(workload, (['raw', 'lean', 'floor', 'before', 'zkwire'] as const).map(cost), ratios.map(textOf))
  })
  const head = ['CPU now : lean', 'CPU floor : lean', 'CPU now : before', 'time now : before']
  return [cells('CPU of a call, us', ['raw', 'lean', 'floor', 'before', 'now'], head), ...lines].join('\n')
}

const textOf = (ratio: Ratio): string =>
  Number.isNaN(ratio.middle) ? '-' : `${fixed(ratio.middle)} ${intervalOf(ratio)}`

const fixed = (figure: number): string => (Number.isNaN(figure) ? '-' : figure.toFixed(2))

/** Returns a sentence for each cost that grew by more than 5 % beyond doubt. */
export const slowdownsOf = (samples: Samples): string[] =>
  [...samples].flatMap(([workload, by]) =>
    Object.entries(JUDGED).flatMap(([name, figure]) => {
      const grown = ratio(by, figure, 'before', CONFIDENCE)
      const isSlower = isJudged(figure, workload) && grown.low > 1 + ALLOWED
      return isSlower ? [`${workload}: the ${name} of a call grew to ${textOf(grown)} times that of before.`] : []
    }),
  )
