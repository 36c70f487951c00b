import { expect } from 'chai'
import type { Cell } from '../../bench/fan-out.ts'
import { tasksOf } from '../../bench/plan.ts'
import { recipes } from '../../bench/recipes.ts'
import { busierOf, growthOf, summaryOf, type Timed } from '../../bench/summary.ts'
import { remarksOf, tableOf } from '../../bench/table.ts'
import type { Counts } from '../../bench/tap.ts'

describe('the table of the benchmark', () => {
  const sizes = [10, 100, 1000, 10_000]
  const cells = recipes.flatMap(({ name, theory }) =>
    sizes.map(n => cellOf(name, n, n ** theory.notifications, 60 * n ** theory.bytes)),
  )
  const summaries = cells.map(summaryOf)
  const growth = recipes.map(recipe => growthOf(recipe, summaries))
  const lines = tableOf(summaries, growth).split('\n')

  it('fits 80 columns, with all recipes and ten thousand contenders', () => {
    expect(lines.filter(line => line.length > 80)).to.deep.equal([])
    expect(lines.filter(line => line !== line.trimEnd())).to.deep.equal([])
  })

  it('keeps a space between any two figures', () => {
    const row = lines.find(line => /^herd +10000 /.test(line))
    expect(row?.split(/ +/)).to.deep.equal([
      'herd',
      '10000',
      '10000',
      '10002',
      '100',
      '6000M',
      '0',
      '4',
      '200',
      '300',
      '3',
    ])
  })

  it('shows the fitted exponents beside the theory', () => {
    const fitted = lines.slice(lines.findIndex(line => line.startsWith('GROWTH')))
    expect(fitted.find(line => line.startsWith('herd'))?.split(/ +/)).to.deep.equal(['herd', '1.00', '1', '2.00', '2'])
    expect(fitted.find(line => line.startsWith('mutex'))?.split(/ +/)).to.deep.equal([
      'mutex',
      '0.00',
      '0',
      '1.00',
      '1',
    ])
  })

  it('shows what there is of a run that ended early', () => {
    const early = tableOf([summaryOf({ ...cellOf('mutex', 10, 1, 600), timed: [] })], [])
    expect(early).to.match(/^mutex +10( +-){6} +0$/m)
    expect(early).not.to.contain('GROWTH')
  })

  it('says which rows are missing, and which did not repeat', () => {
    const [first = cellOf('mutex', 10, 1, 1)] = cells
    const steady = { ...first, asExpected: true }
    expect(remarksOf([steady], tasksOf([{ name: 'mutex' }], [10]))).to.deep.equal([])
    const remarks = remarksOf([{ ...first, asExpected: false }], tasksOf([{ name: 'mutex' }, { name: 'herd' }], [10]))
    expect(remarks).to.have.length(2)
    expect(remarks[0]).to.match(/^mutex 10: /)
    expect(remarks[1]).to.equal('Not measured: herd 10.')
  })
})

describe('the summary of a cell', () => {
  it('takes medians of the counted steps, and keeps the least and the most', () => {
    const cell = cellOf('mutex', 10, 1, 600)
    const odd = { ...counts(1, 600), bytesReceived: 700 }
    cell.counted[2] = { release: odd, join: odd }
    expect(summaryOf(cell).counted.release.bytesReceived).to.deep.equal({ median: 600, min: 600, max: 700 })
    expect(summaryOf(cell).counted.steps).to.equal(3)
  })

  it('takes latency, rate and processor time from the timed steps', () => {
    const { timed } = summaryOf(cellOf('mutex', 10, 1, 600))
    expect(timed).to.deep.equal({
      steps: 2,
      handOverMs: { p50: 1, p99: 3 },
      releasesPerSecond: 250,
      clientCpuMsPerRelease: 2,
      serverCpuMsPerRelease: 5,
      clientBusy: 0.4,
      serverBusy: 1,
    })
  })

  it('does without the processor time of a server that is not ours', () => {
    const cell = cellOf('mutex', 10, 1, 600)
    for (const { release, join } of cell.timed) release.serverCpuMs = join.serverCpuMs = undefined
    const { timed } = summaryOf(cell)
    expect(timed?.serverCpuMsPerRelease).to.equal(undefined)
    expect(timed?.serverBusy).to.equal(undefined)
    expect(busierOf(timed as Timed)).to.deep.equal({ side: 'client', busy: 0.4 })
  })
})

function counts(notifications: number, bytesReceived: number): Counts {
  return { notifications, framesSent: 2, framesReceived: notifications, bytesSent: 100, bytesReceived }
}

function cellOf(recipe: string, contenders: number, notifications: number, bytesReceived: number): Cell {
  const timing = { ms: 4, clientCpuMs: 2, serverCpuMs: 5 }
  const join = { ...counts(0, 300), framesReceived: 2, bytesSent: 200 }
  return {
    recipe,
    contenders,
    counted: Array.from({ length: 3 }, () => ({ release: counts(notifications, bytesReceived), join })),
    timed: [1, 3].map(handOverMs => ({
      handOverMs,
      release: { ...timing },
      join: { ms: 6, clientCpuMs: 2, serverCpuMs: 5 },
    })),
  }
}
