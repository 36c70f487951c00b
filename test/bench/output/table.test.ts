import { expect } from 'chai'
import type { Measurement, PhaseRun } from '../../../bench/measure/measurement.ts'
import { digestOf } from '../../../bench/compare/digest.ts'
import { comparisonTable } from '../../../bench/compare/table.ts'
import { caveatsOf } from '../../../bench/output/caveats.ts'
import { resultOf, type Machine } from '../../../bench/output/result.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import type { Server } from '../../../bench/harness/server.ts'
import { growthOf, limitOf, summaryOf } from '../../../bench/measure/summary.ts'
import { bytes } from '../../../bench/output/figures.ts'
import { tableOf } from '../../../bench/output/table.ts'

const SIZES = [10, 100, 1000, 10_000]

describe('the table of the benchmark', () => {
  const cells = scenarios.flatMap(({ name, theory }) =>
    SIZES.map(size => cellOf(name, size, theory.phase, size ** theory.notifications, 60 * size ** theory.bytes)),
  )
  const summaries = cells.map(summaryOf)
  const growth = scenarios.map(scenario => growthOf(scenario, summaries))
  const lines = tableOf(summaries, growth, 2).split('\n')

  it('fits 80 columns, with all scenarios and ten thousand sessions', () => {
    expect(lines.filter(line => line.length > 80)).to.deep.equal([])
    expect(lines.filter(line => line !== line.trimEnd())).to.deep.equal([])
  })

  it('separates figures by a space', () => {
    const row = lines.find(line => /^herd +10000 /.test(line))
    expect(row?.split(/ +/)).to.deep.equal(['herd', '10000', 'release', '10000', '10002', '100', '6.00G', '3'])
  })

  it('shows the fitted exponents with their errors, the theory, and the total', () => {
    const fitted = lines.slice(lines.findIndex(line => line.startsWith('GROWTH')))
    const rowOf = (name: string) => fitted.find(line => line.startsWith(`${name} `))?.split(/ +/)
    expect(rowOf('herd')).to.deep.equal(['herd', 'release', '1.00±0.00', '1', '2.00±0.00', '2', 'N^3.00'])
    expect(rowOf('mutex')).to.deep.equal(['mutex', 'release', '0.00±0.00', '0', '1.00±0.00', '1', 'N^2.00'])
  })

  it('does not call notifications events', () => {
    expect(lines.filter(line => /\bevents?\b/i.test(line))).to.deep.equal([])
  })

  it('shows bytes in three digits', () => {
    expect([999, 1000, 999_499, 999_700, 1e6, 6e9, NaN].map(bytes)).to.deep.equal([
      '999',
      '1.00k',
      '999k',
      '1.00M',
      '1.00M',
      '6.00G',
      '-',
    ])
  })

  it('has caveats for scenarios that are missing, too heavy, or of varying traffic', () => {
    const chosen = scenarios.filter(({ name }) => name === 'mutex' || name === 'herd')
    const [mutex, herd] = [cellOf('mutex', 10, 'release', 1, 600), cellOf('herd', 10, 'release', 9, 6000)]
    const all = { scenarios: chosen, sizes: [10], all: false }
    expect(caveatsOf([mutex, herd], all)).to.deep.equal([])
    expect(caveatsOf([{ ...mutex, asExpected: false }], all)).to.deep.equal([
      'The steps of these scenarios did not all cause the same traffic, so their counts are medians: mutex 10.',
      'Not measured because the time ran out: herd 10.',
    ])
    const heavy = caveatsOf([herd], { ...all, sizes: [3000] })
    expect(heavy).to.deep.equal([
      'Skipped herd 3000: it would move about 540M bytes at once (--all includes it).',
      'Skipped mutex 3000: it would move about 540M bytes at once (--all includes it).',
    ])
  })

  it('has caveats for varying counts, with the reason, and for counts that differ from the server’s', () => {
    const reentrant = scenarios.filter(({ name }) => name === 'reentrant')
    const cell = { ...cellOf('reentrant', 10, 'release', 1, 600), asExpected: false }
    const [varying, ...others] = caveatsOf([cell], { scenarios: reentrant, sizes: [10], all: false })
    expect(varying).to.equal(`The counts of reentrant are medians, not exact, because ${reentrant[0]?.variesBecause}.`)
    expect(others, 'no caveat about steps that differ').to.deep.equal([])
    const passed = { framesSent: 1, framesReceived: 1, bytesSent: 1, bytesReceived: 1 }
    const lost = { ...cell, bothSides: { clients: passed, server: { framesSent: 2 }, agree: false } }
    expect(caveatsOf([lost], { scenarios: reentrant, sizes: [10], all: false })).to.include(
      "The server's counts differ from the clients': reentrant 10.",
    )
  })

  it('can be compared with an earlier result', () => {
    const result = (cell: Measurement, cpu = 'abacus') =>
      digestOf(
        resultOf(
          { measurements: [cell], traffic: traffic(), server, seconds: 1, caveats: [], recordings: [] },
          { scenarios: [], sizes: [], seed: 1, threads: 1 },
          [],
          { ...machine, cpu },
          new Date(0),
        ),
      )
    const before = result(cellOf('mutex', 10, 'release', 1, 600))
    const after = result(cellOf('mutex', 10, 'release', 1, 300))
    expect(comparisonTable(before, after)).to.match(/on the same machine[^]*^mutex +10 release +600 → 300 -50% +/m)
    expect(comparisonTable(before, after)).to.match(/2\.00 → 2\.00 +4\.00 → 4\.00$/m)
    const elsewhere = comparisonTable(before, result(cellOf('mutex', 10, 'release', 1, 600), 'other'))
    expect(elsewhere).to.match(/^on ANOTHER machine.*\n {2}machine: \d+ cores of abacus, .* → \d+ cores of other, /m)
    expect(elsewhere).not.to.contain('  server:')
    expect(
      comparisonTable(before, after)
        .split('\n')
        .filter(line => line.length > 80),
    ).to.deep.equal([])
  })
})

describe('the summary of a measurement', () => {
  it('has the median, minimum and maximum of the counted steps, and shows whether they are equal', () => {
    const cell = cellOf('mutex', 10, 'release', 1, 600)
    expect(summaryOf(cell).isConstant).to.equal(true)
    const odd = cell.counted[2]?.steps[0]?.['release']?.counts
    if (odd !== undefined) odd.bytesReceived = 700
    const summary = summaryOf(cell)
    expect(summary.phases[0]?.counts.bytesReceived).to.deep.equal({ median: 600, min: 600, max: 700 })
    expect(summary.phases[0]?.counts.steps).to.equal(3)
    expect(summary.isConstant).to.equal(false)
  })

  it('has the times of the timed steps, the first and last mark of each, and the rate', () => {
    const [phase] = summaryOf(cellOf('data', 10, 'change', 10, 600)).phases
    expect(phase?.marks).to.include({ steps: 2, first: 1.5, last: 2.5, perSecond: (1000 * 2) / 2.5 })
    expect(phase?.marks?.all.count).to.equal(4)
    expect(phase).to.include({ clientCpuMs: 4, serverCpuMs: 5 })
  })

  it('uses the times of the counted steps if none were timed', () => {
    const [phase] = summaryOf({ ...cellOf('data', 10, 'change', 10, 600), timed: [] }).phases
    expect(phase?.marks?.steps).to.equal(3)
  })

  it('leaves small sizes out of the fit if there are enough larger ones', () => {
    const [scenario] = scenarios.filter(({ name }) => name === 'data')
    const sizes = (...some: number[]) =>
      scenario &&
      growthOf(
        scenario,
        some.map(size => summaryOf(cellOf('data', size, 'change', size, size))),
      ).sizes
    expect(sizes(10, 50, 100)).to.deep.equal([50, 100])
    expect(sizes(10, 20, 100)).to.deep.equal([10, 20, 100])
  })

  it('names the bottleneck', () => {
    const limit = (client: number, server?: number, machine?: number) => limitOf({ client, server, machine }, 2)
    expect(limit(0.99)).to.equal('client')
    expect(limit(0.2, 0.95, 1.1)).to.equal('server')
    expect(limit(0.9, 0.95, 1.9)).to.equal('machine')
    expect(limit(0.5, 0.5, 1)).to.equal('nothing')
  })
})

function traffic() {
  const none = { notifications: 0, framesSent: 0, framesReceived: 0, bytesSent: 0, bytesReceived: 0 }
  return { work: none, handshakes: none, fences: none, pings: none }
}

const machine: Machine = { cpu: 'abacus', cores: 2, memoryBytes: 10, platform: 'table', node: 'v0' }
const server: Server = {
  ...{ servers: 'a:1', kind: 'apache', version: '3', mode: 'standalone', pids: [] },
  cpuSeconds: () => undefined,
  wireCounts: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
}

function cellOf(
  scenario: string,
  size: number,
  phase: string,
  notifications: number,
  bytesReceived: number,
): Measurement {
  const phaseRun = (marks: number[]): PhaseRun => ({
    counts: { notifications, framesSent: 2, framesReceived: notifications, bytesSent: 100, bytesReceived },
    ...{ marks, ms: 6, clientCpuMs: 4, serverCpuMs: 5 },
  })
  const busy = { client: 0.4, server: 1, machine: 1.2 }
  return {
    ...{ scenario, size, asExpected: true },
    counted: [1, 2, 3].map(() => ({ steps: [{ [phase]: phaseRun([1, 3]) }], busy })),
    timed: [{ steps: [{ [phase]: phaseRun([1, 2]) }, { [phase]: phaseRun([2, 3]) }], busy }],
  }
}
