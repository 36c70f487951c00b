// What a report of StrykerJS says of each file.

export interface Position {
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
  survivors: { line: number; change: string }[]
}

/** Counts a file's mutants. Mutants that StrykerJS did not try do not count. */
export function fileResults(report: Report): FileResult[] {
  return Object.entries(report.files).map(([file, { source, mutants }]) => {
    const tried = mutants.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError')
    const alive = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    const survivors = alive.map(mutant => ({ line: mutant.location.start.line, change: changeOf(source, mutant) }))
    const noticed = tried.length - alive.length
    const share = tried.length === 0 ? 1 : noticed / tried.length
    return { file, mutants: tried.length, noticed, share, survivors }
  })
}

/** `original -> replacement`, on one line. */
function changeOf(source: string, { location: { start, end }, replacement = '' }: Mutant): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines.push((lines.pop() ?? '').slice(0, end.column - 1))
  lines.unshift((lines.shift() ?? '').slice(start.column - 1))
  return `${lines.join(' ')} -> ${replacement}`.replaceAll(/\s+/g, ' ')
}
