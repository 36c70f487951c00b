import { expect } from 'chai'
import { workloads, populations } from '../../../bench/growth/workloads.ts'
import { help, parseOptions, type Options } from '../../../bench/growth/options.ts'
import { UsageError } from '../../../bench/output/usage.ts'

const parsed = (...args: string[]) => parseOptions(args) as Options

describe('the command line of the growth benchmark', () => {
  it('selects all curves at all sizes by default', () => {
    const options = parsed()
    expect(options.workloads).to.deep.equal(workloads)
    for (const population of populations) expect(options.sizesOf(population)).to.deep.equal(population.sizes)
    expect(options.json).to.match(/bench\/results\/growth\.json$/)
    expect(options.report).to.match(/bench\/results\/growth\.html$/)
  })

  it('selects sizes up to 100,000 calls, 1,000,000 watches (removed ones too), and 10,000 sessions', () => {
    const largest = Object.fromEntries(populations.map(({ name, sizes }) => [name, Math.max(...sizes)]))
    expect(largest).to.include({ calls: 100_000, watches: 1_000_000, removed: 1_000_000, sessions: 10_000 })
    for (const { name, sizes, quick } of populations) {
      for (const list of [sizes, quick]) expect(list, name).to.deep.equal(list.toSorted((a, b) => a - b))
      expect(
        workloads.some(workload => workload.population === name),
        name,
      ).to.equal(true)
    }
  })

  it('accepts a subset of the curves and sizes, and shorter measurements', () => {
    const options = parsed('--only', 'sessions', '--most', '1000', '--rounds=3', '--warm-up=10', '--span', '20')
    expect(options).to.include({ rounds: 3, warmUp: 10, span: 20 })
    expect(options.workloads).to.deep.equal(workloads.filter(({ population }) => population === 'sessions'))
    for (const population of populations) expect(Math.max(0, ...options.sizesOf(population))).to.be.at.most(1000)
    const quick = parsed('--quick')
    for (const population of populations) expect(quick.sizesOf(population)).to.deep.equal(population.quick)
    expect(quick.rounds).to.be.below(parsed().rounds)
  })

  it('accepts files, and options for the worker processes', () => {
    const options = parsed('--json', '/a.json', '--report', '/a.html', '--node-option=--cpu-prof')
    expect(options).to.include({ json: '/a.json', report: '/a.html' })
    expect(options.execArgv).to.deep.equal(['--cpu-prof'])
  })

  it('rejects invalid options, and says why', () => {
    expect(() => parsed('--only', 'sockets')).to.throw('no name contains "sockets". The names are: calls, getData; ')
    for (const rounds of ['0', '1.5', 'many'])
      expect(() => parsed('--rounds', rounds)).to.throw(`--rounds: "${rounds}"`)
    expect(() => parsed('--round', '3')).to.throw(UsageError, "'--round'")
  })

  it('lists every option in the help', () => {
    expect(parseOptions(['--help'])).to.equal('help')
    for (const option of ['quick', 'only', 'most', 'rounds', 'warm-up', 'span', 'node-option', 'json', 'report'])
      expect(help).to.match(new RegExp(`--${option} `))
  })
})
