// The table of docs/exploration.md, which `npm run suite -- exploration --write` writes.
import type { Result } from './row.ts'

export interface Row extends Result {
  readonly title: string
}

const BEGIN = '<!-- written in the repository by npm run suite -- exploration --write -->\n'
const END = '<!-- end -->\n'

export function tableOf(rows: readonly Row[]): string {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0)
  return [
    '| world, and faults in one schedule | schedules | states | longest, in steps | s of processor time | |',
    '|---|---|---|---|---|---|',
    ...rows.map(
      ({ title, schedules, states, longest, cpu, isWhole }) =>
        `| ${title} | ${isWhole ? countOf(schedules) : ''} | ${countOf(states)} | ${longest} | ${cpu.toFixed(1)} | ${isWhole ? '' : 'stopped'} |`,
    ),
    '',
    `${countOf(sum(({ states }) => states))} states in ${countOf(sum(({ cpu }) => cpu))} s of processor time, ` +
      `${countOf(sum(({ steps }) => steps) / sum(({ cpu }) => cpu))} steps a second.`,
    '',
  ].join('\n')
}

/** Whole numbers, and above a million three digits. */
const countOf = (count: number): string =>
  count < 1e6
    ? Math.round(count).toLocaleString('en')
    : `${Number((count / 1e6).toPrecision(3)).toLocaleString('en')} million`

export function withTable(page: string, table: string): string {
  const [before, rest = ''] = page.split(BEGIN)
  return `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`
}

/** The titles in the table of the page. */
export const titlesIn = (page: string): string[] =>
  [...(page.split(BEGIN)[1]?.split(END)[0] ?? '').matchAll(/^\| ([^|]*: [^|]*) \|/gm)].map(([, title = '']) => title)
