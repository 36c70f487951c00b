// Checks docs/choosing.md against the recorded run.
import { expect } from 'chai'
import { locks } from '../../bench/services/locks.ts'
import { documentsOf } from '../../bench/services/documents.ts'
import { choosingPage, locksOf } from '../../bench/services/page.ts'
import { bytesOf, growthOf, parseServicesResult } from '../../bench/services/result.ts'
import { readDocument } from '../support/document.ts'

describe('docs/choosing.md', () => {
  const result = parseServicesResult(readDocument('docs/services.json'))
  const release = (id: string) => result.releases.findLast(({ lock }) => lock === id) ?? expect.fail(id)

  it('shows each picture that is drawn', () => {
    const pictures = Object.keys(documentsOf(result)).flatMap(file => /^docs\/(.*\.svg)$/.exec(file)?.[1] ?? [])
    expect(pictures).to.have.length(3)
    for (const picture of pictures) expect(choosingPage(result)).to.include(`](${picture})`)
  })

  it('changes when the figures of the run change', () => {
    const other = structuredClone(result)
    for (const each of other.releases) each.framesSent++
    expect(choosingPage(other)).not.to.equal(choosingPage(result))
  })

  it('is based on a complete run of all locks, at least of those that are no packages of npm', () => {
    expect(result).to.include({ ended: 'complete' })
    expect(locksOf(result)).to.include.members(locks.filter(({ program }) => program !== 'npm'))
    for (const { id } of locksOf(result))
      for (const found of [result.releases, result.waiting, result.uncontended, result.crashes])
        expect(
          found.some(({ lock }) => lock === id),
          id,
        ).to.equal(true)
  })

  it('has no cell without a figure, except for the locks that poll', () => {
    expect(choosingPage(result)).not.to.match(/NaN|undefined|Infinity/)
    const empty = choosingPage(result)
      .split('\n')
      .filter(line => line.startsWith('|') && line.includes('| – |'))
    expect(empty).to.have.length(locksOf(result).filter(({ polls }) => polls).length)
  })

  it('says of the locks only what the run has shown', () => {
    const wakes = (id: string) =>
      Math.round(growthOf(result.releases.filter(({ lock }) => lock === id)).woken?.exponent ?? NaN)
    // Those to which the server of a lock that polls sends something are those that happen to ask.
    expect(locks.filter(({ id, polls }) => !polls && wakes(id) === 1).map(({ id }) => id)).to.have.members([
      'herd',
      'redis-channel',
      'pg-notify',
    ])
    const never = result.crashes
      .filter(({ times }) => times.includes(null))
      .map(({ lock, fault }) => `${lock} ${fault}`)
    const promised = result.crashes.filter(({ bound }) => bound === null).map(({ lock, fault }) => `${lock} ${fault}`)
    expect(never, 'those that promise nothing').to.have.members(promised)
    const trips = (id: string) => result.trips.find(({ lock }) => lock === id)?.trips ?? NaN
    expect(trips('mutex')).to.be.below(trips('etcd-mutex'))
    expect(bytesOf(release('etcd-mutex'))).to.be.below(bytesOf(release('predecessor')))
    expect(bytesOf(release('ticket'))).to.be.below(bytesOf(release('predecessor')))
    const alone = (id: string) => result.uncontended.find(({ lock }) => lock === id)?.trips.cold ?? NaN
    expect(['etcd-mutex', 'redis-poll', 'pg-advisory'].map(alone), 'all others').to.deep.equal([2, 2, 2])
    expect(alone('mutex')).to.equal(3)
  })
})
