import { expect } from 'chai'
import fc from 'fast-check'
import {
  durationHere,
  firstSize,
  lockForecast,
  MOST_SESSIONS,
  phaseForecast,
  watchForecasts,
} from '../../../bench/model/forecast.ts'
import { modelOf } from '../../../bench/model/model.ts'
import { herd, lookAhead, measuredOf, ticket } from './synthetic.ts'

const model = modelOf(measuredOf([herd, lookAhead, ticket]))
const conditions = { lineRate: 1e9, cores: 4, servers: 1, roundTrip: 0.5, hold: 100 }
const lock = (name: string, n: number, more: Partial<typeof conditions> = {}) =>
  lockForecast(model, name, n, { ...conditions, ...more }) ?? expect.fail(name)

describe('a forecast', () => {
  it('is exact at a million contenders if the costs follow the theory', () => {
    const n = 1_000_000
    const [phase = expect.fail('no phase')] = model.phases
    const { counts, server } = phaseForecast(phase, n)
    expect(counts.notifications).to.equal(n - 1)
    expect(counts.bytesReceived / herd.bytes(n)).to.be.closeTo(1, 1e-9)
    const [a, b, c] = herd.costs.server
    expect((server?.value ?? NaN) / (a + b * (n - 1) + c * herd.bytes(n))).to.be.closeTo(1, 1e-6)
  })

  it('of the duration on the measured machine shares its cores between server and clients', () => {
    const [phase = expect.fail('no phase')] = model.phases
    const { server, client } = phaseForecast(phase, 500)
    const { value } = durationHere(model, phase, 500) ?? expect.fail('no duration')
    expect(value).to.be.closeTo(0.2 + ((server?.value ?? NaN) + (client?.value ?? NaN)) / 2, 1e-6)
  })

  it('of a release adds the round trips to the slower one of line and server, and to the work of one client', () => {
    const { ms, lineMs, release, listBytes = NaN } = lock('herd', 1000)
    expect(lineMs).to.be.closeTo((herd.bytes(1000) * 8) / 1e6, 1e-6)
    const [phase, notification, byte] = herd.costs.client
    const client = phase + notification + byte * listBytes
    expect(ms).to.be.closeTo(2 * 0.5 + lineMs + client, 1e-6)
    // On a fast line, the server is slower.
    const server = (release.server?.value ?? NaN) / 4
    expect(lock('herd', 1000, { lineRate: 1e15 }).ms).to.be.closeTo(2 * 0.5 + server + client, 1e-6)
    expect(lock('herd', 1000, { lineRate: 1e15, cores: 8 }).ms).to.be.closeTo(2 * 0.5 + server / 2 + client, 1e-6)
    expect(lock('herd', 1000, { roundTrip: 50 }).ms).to.be.closeTo(2 * 50 + lineMs + client, 1e-6)
  })

  it('of the rate counts the join of the former holder too, unless round trips are the limit', () => {
    const busy = { lineRate: 1e6, roundTrip: 0.001 }
    const { perSecond, lineMs } = lock('ticket', 100, busy)
    // A join reads 200 bytes.
    expect(1000 / perSecond).to.be.closeTo(lineMs + (200 * 8) / 1e3, 1e-6)
    const { perSecond: slow, ms } = lock('ticket', 100, { roundTrip: 100 })
    expect(slow).to.be.closeTo(1000 / ms, 1e-9)
  })

  it('is that more contenders never make a lock faster, and that a faster line never makes it slower', () => {
    const size = fc.integer({ min: 2, max: 1e9 })
    const rate = fc.double({ min: 1e6, max: 1e11, noNaN: true })
    const names = fc.constantFrom('herd', 'look-ahead', 'ticket')
    fc.assert(
      fc.property(names, size, size, rate, rate, (name, m, n, a, b) => {
        const [few, many] = [Math.min(m, n), Math.max(m, n)]
        expect(lock(name, many).perSecond).to.be.at.most(lock(name, few).perSecond * (1 + 1e-9))
        const [slow, fast] = [Math.min(a, b), Math.max(a, b)]
        expect(lock(name, n, { lineRate: fast }).ms).to.be.at.most(lock(name, n, { lineRate: slow }).ms)
      }),
    )
  })

  it('knows the length of a list of names, if sessions read one', () => {
    expect(lock('herd', 1000).listBytes).to.be.closeTo(59 * 1000 + 100, 1e-3)
    expect(lock('look-ahead', 1000).listBytes).to.equal(59 * 1000 + 400)
    expect(lock('ticket', 1000).listBytes).to.equal(undefined)
  })

  it('is missing if the lock was not timed or not recorded', () => {
    expect(lockForecast(modelOf(measuredOf([herd], [10, 50, 100], false)), 'herd', 10, conditions)).to.equal(undefined)
    expect(lockForecast(modelOf({ ...measuredOf([herd]), recordings: [] }), 'herd', 10, conditions)).to.equal(undefined)
    expect(lockForecast(model, 'mutex', 10, conditions)).to.equal(undefined)
  })

  it('finds the first size of which a condition is true', () => {
    for (const first of [2, 3, 325, 99_999_999, MOST_SESSIONS]) expect(firstSize(n => n >= first)).to.equal(first)
    expect(firstSize(() => false)).to.equal(undefined)
    expect(firstSize(() => true)).to.equal(2)
    const limit = firstSize(n => !lock('herd', n).keepsUp) ?? expect.fail('the herd keeps up')
    expect(lock('herd', limit - 1).keepsUp).to.equal(true)
    expect(lock('herd', limit).keepsUp).to.equal(false)
  })

  it('of an ensemble shares out what many clients read, but not a list for one client, and adds two round trips', () => {
    const slow = { lineRate: 1e7 }
    const three = { ...slow, servers: 3 }
    expect(lock('herd', 1000, three).lineMs).to.be.closeTo(lock('herd', 1000, slow).lineMs / 3, 1e-6)
    expect(lock('look-ahead', 1000, three).ms).to.be.closeTo(lock('look-ahead', 1000, slow).ms + 2 * 0.5, 1e-6)
  })

  it('of a change that all watch has the round trips of the notification and of the read', () => {
    const measured = measuredOf([herd])
    const watched = modelOf({ ...measured, scenarios: [{ name: 'herd', kind: 'watch' }], recordings: [] })
    const [forecast = expect.fail('no forecast')] = watchForecasts(watched, 1000, { ...conditions, lineRate: 1e15 })
    const [far = expect.fail('no forecast')] = watchForecasts(watched, 1000, {
      ...conditions,
      lineRate: 1e15,
      roundTrip: 50,
    })
    expect(forecast.change.counts.notifications).to.equal(999)
    expect(far.ms - forecast.ms).to.be.closeTo(2 * 49.5, 1e-6)
  })
})
