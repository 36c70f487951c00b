// What a report of StrykerJS says of each file.

interface Position {
  line: number
  column: number
}

/** The parts of StrykerJS's JSON report that are read here. Lines and columns count from 1. */
export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

interface Mutant {
  status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'Ignored' | 'CompileError' | 'RuntimeError' | 'Pending'
  replacement?: string
  location: { start: Position; end: Position }
}

export interface FileResult {
  file: string
  mutants: number
  noticed: number
  /** The noticed mutants as a share of all, 0 to 1. */
  share: number
  survivors: Survivor[]
}

interface Survivor {
  line: number
  /** The first line of the source that the mutant changes. */
  source: string
  /** `original -> replacement`, on one line. */
  change: string
  /** False if no test reaches the line. */
  isReached: boolean
}

/** Counts a file's mutants. Mutants that StrykerJS did not try do not count. */
export function fileResults(report: Report): FileResult[] {
  return Object.entries(report.files).map(([file, { source, mutants }]) => {
    const tried = mutants.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError')
    const alive = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    const lines = source.split('\n')
    const survivors = alive.map((mutant): Survivor => {
      const { line } = mutant.location.start
      const isReached = mutant.status === 'Survived'
      return { line, source: lines[line - 1]?.trim() ?? '', change: changeOf(source, mutant), isReached }
    })
    const noticed = tried.length - alive.length
    const share = tried.length === 0 ? 1 : noticed / tried.length
    return { file, mutants: tried.length, noticed, share, survivors }
  })
}

/** Returns the survivors as Markdown: the worst files first, and each line of a file with what may replace its parts. */
export function survivorsPage(results: readonly FileResult[]): string {
  const files = results.filter(({ survivors }) => survivors.length > 0).sort((a, b) => a.share - b.share)
  return files.map(sectionOf).join('\n')
}

function sectionOf({ file, noticed, mutants, survivors }: FileResult): string {
  const numbers = [...new Set(survivors.map(({ line }) => line))].sort((a, b) => a - b)
  const lines = numbers.flatMap(number => {
    const some = survivors.filter(({ line }) => line === number)
    const unreached = some.some(({ isReached }) => isReached) ? '' : ' (no test reaches this)'
    return [`${number}: ${some[0]?.source}${unreached}`, ...some.map(({ change }) => `        ${change}`)]
  })
  return [`## ${file}: ${noticed} of ${mutants} noticed`, '', ...lines.map(line => `    ${line}`), ''].join('\n')
}

function changeOf(source: string, { location: { start, end }, replacement = '' }: Mutant): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines.push((lines.pop() ?? '').slice(0, end.column - 1))
  lines.unshift((lines.shift() ?? '').slice(start.column - 1))
  return `${lines.join(' ')} -> ${replacement}`.replaceAll(/\s+/g, ' ')
}
