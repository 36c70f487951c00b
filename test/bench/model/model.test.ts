import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { factorOf } from '../../../bench/model/least-squares.ts'
import { modelOf } from '../../../bench/model/model.ts'
import { phaseForecast } from '../../../bench/model/forecast.ts'
import { COUNTS } from '../../../bench/model/terms.ts'
import { readResult } from '../../../bench/output/result.ts'
import { herd, lookAhead, measuredOf, ticket } from './synthetic.ts'

const committed = (name = 'herd') => readResult(fileURLToPath(new URL(`../../../docs/${name}.json`, import.meta.url)))

describe('the model of a result', () => {
  const model = modelOf(measuredOf([herd, lookAhead, ticket]))
  const release = (name: string) =>
    model.phases.find(({ scenario, phase }) => scenario === name && phase === 'release') ?? expect.fail(name)

  it('finds the cost of a phase, a notification and a byte, for the server and for the clients', () => {
    const { server, client } = release('herd')
    expect(server?.terms).to.deep.equal(['phase', 'notification', 'byte'])
    for (const [i, cost] of herd.costs.server.entries())
      expect((server?.factors[i] ?? NaN) / cost).to.be.closeTo(1, 1e-6)
    for (const [i, cost] of herd.costs.client.entries())
      expect((client?.factors[i] ?? NaN) / cost).to.be.closeTo(1, 1e-6)
  })

  it('has no cost of a notification if their number is constant, and none of a byte if no session lists', () => {
    expect(release('look-ahead').server?.terms).to.deep.equal(['phase', 'byte'])
    expect(release('ticket').server?.terms).to.deep.equal(['phase'])
    expect(model.phases.find(({ phase }) => phase === 'join')?.server?.terms).to.deep.equal(['phase'])
  })

  it('counts the round trips of each lock, and finds the time of one', () => {
    expect(['herd', 'look-ahead', 'ticket'].map(name => release(name).roundTrips)).to.deep.equal([2, 1, 1])
    // Each waits 0.2 ms.
    expect(model.roundTrip?.value).to.be.closeTo((0.1 + 0.2 + 0.2) / 3, 1e-6)
    expect(model.roundTrip?.low).to.be.below(0.16)
  })

  it('shares the costs of notifications and bytes between the phases of a scenario, but not the constant ones', () => {
    const measured = measuredOf([herd])
    for (const { phases } of measured.cells)
      for (const phase of phases) if (phase.phase === 'join') phase.clientCpuMs += 7
    const [first, second] = modelOf(measured).phases
    expect(first?.client?.factors.map(factor => Number(factor.toPrecision(6)))).to.deep.equal(herd.costs.client)
    // A join reads 200 bytes and notifies nobody.
    expect(second?.client?.terms).to.deep.equal(['phase'])
    expect(second?.client?.factors[0]).to.be.closeTo(7 + 0.4 + 200 * 5e-6, 1e-6)
    expect(second?.client?.covariance).to.have.length(1)
  })

  it('has an interval for each part, which is wider if the figures are noisy', () => {
    const noisy = measuredOf([herd])
    for (const [i, { phases }] of noisy.cells.entries())
      for (const phase of phases) phase.clientCpuMs *= i % 2 === 0 ? 1.2 : 0.8
    const width = (result: typeof noisy) => {
      const [{ client } = expect.fail('no phase')] = modelOf(result).phases
      const { low = NaN, high = NaN } = client === undefined ? {} : factorOf(client, 1)
      return high - low
    }
    expect(width(measuredOf([herd]))).to.be.closeTo(0, 1e-6)
    expect(width(noisy)).to.be.above(0.001)
  })

  it('has counts but no costs of phases that were only counted, because their times include fences', () => {
    const [phase] = modelOf(measuredOf([herd], [10, 50, 100], false)).phases
    expect(phase).to.include({ scenario: 'herd', server: undefined, client: undefined, wait: undefined })
    expect(phase?.counts.notifications.factors[1]).to.be.closeTo(1, 1e-9)
  })

  it('has no cost of the server if the run could not read its processor time', () => {
    const measured = measuredOf([ticket])
    for (const { phases } of measured.cells) for (const phase of phases) phase.serverCpuMs = undefined
    const [phase] = modelOf(measured).phases
    expect(phase?.server).to.equal(undefined)
    expect(phase?.client?.factors[0]).to.be.closeTo(0.4 + 544 * 5e-6 + 3 * 0.02, 1e-6)
  })

  it('leaves out phases of which fewer sizes were measured than their counts have powers of N', () => {
    expect(modelOf(measuredOf([herd, ticket], [10, 50])).phases.map(({ scenario }) => scenario)).to.deep.equal([
      'ticket',
      'ticket',
    ])
    expect(modelOf(measuredOf([])).phases).to.deep.equal([])
  })

  it('forecasts the counts of the committed run with 1000 sessions from up to 100, to the byte', async () => {
    const result = await committed()
    const small = modelOf(result, size => size <= 100)
    const exact = result.cells.filter(({ size, isConstant }) => size === 1000 && isConstant)
    expect(exact).to.have.length.above(6)
    for (const { scenario, phases } of exact)
      for (const { phase, counts } of phases) {
        const found = small.phases.find(each => each.scenario === scenario && each.phase === phase)
        const forecast = phaseForecast(found ?? expect.fail(scenario), 1000).counts
        for (const name of COUNTS)
          expect(forecast[name], `${scenario}, ${phase}, ${name}`).to.equal(counts[name].median)
      }
  })
})
