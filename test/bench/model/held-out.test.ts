import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { errorOf, heldOutOf, heldOutSentence, isClose, TOLERANCE } from '../../../bench/model/held-out.ts'
import { readResult } from '../../../bench/output/result.ts'
import { herd, measuredOf, ticket } from './synthetic.ts'

describe('the largest size of a run, as forecast from a tenth of it and less', () => {
  it('is close in all figures if the costs follow the theory', () => {
    const figures = heldOutOf(measuredOf([herd, ticket]))
    expect(
      figures.filter(({ scenario, phase }) => scenario === 'herd' && phase === 'release').map(({ what }) => what),
    ).to.deep.equal(['notifications', 'frames', 'bytes read', 'server CPU, ms', 'client CPU, ms', 'duration, ms'])
    for (const figure of figures) {
      expect(figure).to.deep.include({ size: 1000, sizes: [10, 50, 100] })
      expect(errorOf(figure), `${figure.scenario} ${figure.what}`).to.be.closeTo(0, 1e-6)
    }
    expect(heldOutSentence(figures)).to.match(/ with 1000 sessions, .* (\d+) of \1 are at most 25 % off\.$/)
  })

  it('does not use the figures that it forecasts', () => {
    const measured = measuredOf([ticket])
    for (const { size, phases } of measured.cells) if (size > 100) for (const phase of phases) phase.clientCpuMs *= 2
    const [figure = expect.fail('no figure')] = heldOutOf(measured).filter(({ what }) => what === 'client CPU, ms')
    expect(errorOf(figure)).to.be.closeTo(-0.5, 1e-6)
    expect(isClose(figure)).to.equal(false)
    expect(heldOutSentence(heldOutOf(measured))).to.contain('Farther off: ticket 1000 (client CPU, ms)')
  })

  it('is the largest size of each scenario', () => {
    const measured = measuredOf([herd, ticket], [10, 20, 30, 100, 1000])
    const cells = measured.cells.filter(({ scenario, size }) => scenario === 'ticket' || size <= 300)
    expect(heldOutOf({ ...measured, cells }).map(({ scenario, size }) => `${scenario} ${size}`)).to.include(
      'ticket 1000',
    )
    expect(heldOutOf({ ...measured, cells }).some(({ scenario }) => scenario === 'herd')).to.equal(false)
  })

  it('is missing if there are not three sizes up to a tenth of it', () => {
    expect(heldOutOf(measuredOf([ticket], [10, 50, 1000]))).to.deep.equal([])
    expect(heldOutOf(measuredOf([ticket], [10, 50, 100, 999]))).to.deep.equal([])
  })

  it('has the exact counts of the committed run', async () => {
    const result = await readResult(fileURLToPath(new URL('../../../docs/herd.json', import.meta.url)))
    const counts = heldOutOf(result).filter(
      ({ what, scenario }) => /^(notif|frames|bytes)/.test(what) && scenario !== 'reentrant',
    )
    expect(counts).to.have.length.above(20)
    for (const count of counts) expect(errorOf(count), `${count.scenario} ${count.what}`).to.equal(0)
  })

  it('accepts a figure that is exactly at the limit', () => {
    const [figure = expect.fail('no figure')] = heldOutOf(measuredOf([ticket]))
    const forecast = { value: figure.measured * (1 + TOLERANCE), low: undefined, high: undefined }
    expect(isClose({ ...figure, forecast })).to.equal(true)
    expect(isClose({ ...figure, forecast: { ...forecast, value: forecast.value * 1.01 } })).to.equal(false)
  })
})
