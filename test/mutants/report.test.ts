import { expect } from 'chai'
import { fileResults, survivorsPage, type Report } from './report.ts'

describe('the result of a file with mutants', () => {
  const at = (line: number, column: number) => ({ line, column })
  const mutant = (status: Report['files'][string]['mutants'][number]['status'], replacement = 'x') => ({
    status,
    replacement,
    location: { start: at(1, 7), end: at(2, 4) },
  })
  const reportOf = (...mutants: ReturnType<typeof mutant>[]): Report => ({
    files: { 'a.ts': { source: 'const a =\n  b + c\n', mutants } },
  })

  it('counts the mutants that a test noticed, also by not ending', () => {
    const [result] = fileResults(
      reportOf(mutant('Killed'), mutant('Timeout'), mutant('Survived'), mutant('NoCoverage')),
    )
    expect(result).to.include({ file: 'a.ts', mutants: 4, noticed: 2, share: 0.5 })
  })

  it('leaves out the mutants that were not tried', () => {
    const [result] = fileResults(reportOf(mutant('Ignored'), mutant('Killed')))
    expect(result).to.include({ mutants: 1, noticed: 1, share: 1 })
    expect(fileResults(reportOf())[0]).to.include({ mutants: 0, share: 1 })
  })

  it('shows each survivor with its line and its change, on one line', () => {
    expect(fileResults(reportOf(mutant('Survived', '{\n}')))[0]?.survivors).to.deep.equal([
      { line: 1, source: 'const a =', change: 'a = b -> { }', isReached: true },
    ])
  })

  it('is listed with its survivors by line, after the files with a smaller share', () => {
    const good = fileResults(reportOf(mutant('Killed'), mutant('Survived', 'y')))
    const bad = fileResults(reportOf(mutant('NoCoverage'), mutant('NoCoverage', 'z')))
    const none = fileResults(reportOf(mutant('Killed')))
    expect(survivorsPage([...good, ...none, ...bad]).split('\n')).to.deep.equal([
      '## a.ts: 0 of 2 noticed',
      '',
      '    1: const a = (no test reaches this)',
      '            a = b -> x',
      '            a = b -> z',
      '',
      '## a.ts: 1 of 2 noticed',
      '',
      '    1: const a =',
      '            a = b -> y',
      '',
    ])
  })
})
