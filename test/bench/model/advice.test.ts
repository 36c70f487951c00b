import { expect } from 'chai'
import { adviceOf } from '../../../bench/model/advice.ts'
import { modelOf } from '../../../bench/model/model.ts'
import { herd, lookAhead, measuredOf, ticket } from './synthetic.ts'

const conditions = { lineRate: 1e9, cores: 4, servers: 1, roundTrip: 0.5, hold: 100 }
const model = modelOf(measuredOf([herd, lookAhead, ticket]))
const advice = (size: number, more: Partial<typeof conditions> = {}) =>
  adviceOf(model, size, { ...conditions, ...more })
const first = (size: number, more: Partial<typeof conditions> = {}) => advice(size, more).sentences[0]

describe('the advice which lock to take', () => {
  it('repeats the conditions', () => {
    expect(advice(1_000_000).heading).to.equal(
      'With 1,000,000 contenders that hold the lock for 100 ms each, a round trip of 0.50 ms, 1 server with 4 cores and a line of 1.00 Gbit/s:',
    )
    expect(advice(9000, { cores: 1, servers: 3, hold: 1000, lineRate: 1e5 }).heading).to.equal(
      'With 9000 contenders that hold the lock for 1.00 s each, a round trip of 0.50 ms, 3 servers with 1 core and a line of 100 kbit/s:',
    )
  })

  it('is Mutex as long as it is about as fast as TicketMutex', () => {
    expect(first(10)).to.equal('Take Mutex.')
    expect(first(10_000)).to.equal('Take Mutex.')
  })

  it('is TicketMutex if a release of Mutex takes longer', () => {
    expect(first(10_000, { hold: 10 })).to.match(
      /^Take TicketMutex\. A release of Mutex takes [\d.]+ ms, and one of TicketMutex [\d.]+ ms\. Clients of Curator and kazoo cannot contend for it, /,
    )
  })

  it('is TicketMutex if Mutex does not keep up', () => {
    expect(first(1_000_000)).to.match(/^Take TicketMutex\. Mutex manages only 0?[\d.]+ releases a second\. Clients of /)
  })

  it('is TicketMutex if a list of names is too long for a Java client, even if both are as fast', () => {
    const fast = { lineRate: 1e15, roundTrip: 10_000, hold: 1e9 }
    expect(first(17_000, fast)).to.equal('Take Mutex.')
    expect(first(18_000, fast)).to.contain(
      'Take TicketMutex. Mutex reads a list of names of 1.06 MB, more than a Java client accepts by default.',
    )
  })

  it('is the fastest lock if none keeps up, and says so', () => {
    expect(first(1_000_000, { hold: 0.2 })).to.match(
      /^No lock keeps up\. TicketMutex comes closest, with \d+ releases a second\. Clients of Curator/,
    )
  })

  it('says for each lock what a release costs, and from how many contenders on it cannot keep up', () => {
    const text = advice(1000).sentences.join('\n')
    expect(text).to.match(
      /^HerdMutex, the scenario herd: a release notifies 999 of 1000, moves 59\.1 MB, costs the server 149 ms of processor time, and takes 47\d ms, 472 ms of them on the line\. It cannot keep up from 4\d\d contenders on\.$/m,
    )
    expect(text).to.match(
      /^TicketMutex, the scenario ticket: .* It keeps up with any number of contenders up to 1,000,000,000\.$/m,
    )
    expect(advice(1000, { hold: 0.2 }).sentences.join('\n')).to.match(
      /^HerdMutex, the scenario herd: .* It never keeps up\.$/m,
    )
  })

  it('names the scenario of each lock, because the tables of the page call Mutex look-ahead, and another lock mutex', () => {
    const text = advice(10).sentences.join('\n')
    const names = [...text.matchAll(/^(\w+), the scenario ([\w-]+)/gm)].map(
      ([, lock, scenario]) => `${lock} ${scenario}`,
    )
    expect(names).to.deep.equal(['Mutex look-ahead', 'TicketMutex ticket', 'HerdMutex herd'])
  })

  it('says from which size on lists of names exceed the limits of clients', () => {
    // A list has 59 bytes for each name and 400 more; the limits are 1,048,575 and 16,777,216 bytes.
    expect(advice(1000).sentences.join('\n')).to.contain(
      `From 17,766 contenders on, a list of names is longer than Java's client accepts by default (jute.maxbuffer), and from 284,353 on longer than zkwire does`,
    )
    const onlyTicket = adviceOf(modelOf(measuredOf([ticket])), 1000, conditions).sentences.join('\n')
    expect(onlyTicket).not.to.contain('jute.maxbuffer')
  })

  it('says how many pings come on top', () => {
    expect(advice(1_000_000).sentences.at(-1)).to.match(
      /^Pings come on top: 1,000,000 sessions .* send 100,000 a second\./,
    )
  })

  it('never recommends a herd, and has no sentence without a lock', () => {
    const onlyHerd = adviceOf(modelOf(measuredOf([herd])), 10, conditions).sentences
    expect(onlyHerd.filter(sentence => sentence.startsWith('Take'))).to.deep.equal([])
    expect(onlyHerd[0]).to.match(/^HerdMutex, the scenario herd: /)
    expect(adviceOf(modelOf(measuredOf([])), 10, conditions).sentences).to.deep.equal([])
  })

  it('says first at how many contenders the reader’s lock breaks, and what to take', () => {
    const verdict = (size: number, more: Partial<typeof conditions> = {}, yours?: string) =>
      adviceOf(model, size, { ...conditions, ...more }, yours).verdict
    const limit = (more: Partial<typeof conditions> = {}) => Number(/at (\d+)/.exec(verdict(100_000, more) ?? '')?.[1])
    expect(verdict(1000)).to.equal(`HerdMutex breaks at ${limit()}; take Mutex.`)
    expect(limit()).to.be.within(300, 600)
    expect(verdict(10)).to.equal(
      `HerdMutex does not break with 10 contenders: it breaks at ${limit()}; Mutex costs less.`,
    )
    expect(verdict(1000, {}, 'TicketMutex')).to.equal('TicketMutex does not break with any number of contenders.')
    expect(verdict(1000, { hold: 0.2 })).to.equal(
      'HerdMutex is too slow with any number of contenders; no lock is fast enough, and TicketMutex comes closest.',
    )
    expect(limit({ servers: 3 })).to.be.above(limit())
    expect(limit({ hold: 10 })).to.be.below(limit())
  })

  it('has no verdict on a lock that was not measured', () => {
    expect(adviceOf(modelOf(measuredOf([ticket])), 1000, conditions).verdict).to.equal(undefined)
  })
})
