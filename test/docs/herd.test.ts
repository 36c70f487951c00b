// Checks docs/herd.md against the recorded runs.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { readResult, type Result } from '../../bench/output/result.ts'
import { errorOf, heldOutOf, isClose } from '../../bench/model/held-out.ts'
import { readPeersResult, roundTripsAt, type PeersResult } from '../../bench/peers/result.ts'
import { readDocument } from '../support/document.ts'
import { herdPage } from './herd-page.ts'

describe('docs/herd.md', () => {
  let result: Result
  let peers: PeersResult
  let large: Result
  before(async () => {
    const inDocs = (name: string) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url))
    result = await readResult(inDocs('herd.json'))
    peers = await readPeersResult(inDocs('peers.json'))
    large = await readResult(inDocs('forecast.json'))
  })

  it('changes when the figures of a run change', () => {
    const other = structuredClone(result)
    for (const { phases } of other.cells) for (const { counts } of phases) counts.bytesReceived.median *= 2
    expect(herdPage(other, peers, large)).not.to.equal(herdPage(result, peers, large))
    const others = structuredClone(peers)
    for (const { phases } of others.cells) phases.join.tally.framesSent++
    expect(herdPage(result, others, large)).not.to.equal(herdPage(result, peers, large))
  })

  it('is based on a complete run of all peers, whose steps were equal to the byte', () => {
    expect(peers.ended).to.equal('complete')
    expect(peers.libraries.flatMap(({ name, missing }) => (missing === undefined ? [] : [name]))).to.deep.equal([])
    expect([...new Set(peers.cells.map(({ size }) => size))]).to.deep.equal([2, 10, 50, 100])
    expect(peers.cells.filter(({ isConstant }) => !isConstant)).to.deep.equal([])
    expect(peers.commandLine, 'no path of a machine').not.to.match(/ \//)
  })

  it('says of other locks only what the run has shown', () => {
    const remains = (id: string) => peers.remains.find(({ recipe }) => recipe === id) ?? expect.fail(id)
    const isBlocked = (id: string) => remains(id).lostAnswers.some(({ nextGotLock }) => !nextGotLock)
    const ids = peers.remains.map(({ recipe }) => recipe)
    expect(ids.filter(isBlocked)).to.have.members(['n-lock', 'n-herd', 'z-lock'])
    expect(ids.filter(id => remains(id).gaveUp.cameBack > 0)).to.have.members(['z-lock', 'zoo-lock'])
    const ours = peers.libraries.find(({ name }) => name === 'zkwire')?.recipes.map(({ id }) => id) ?? []
    expect(ids.filter(id => remains(id).gaveUp.watches === 0)).to.have.members([...ours, 'n-herd'])
    const trips = (id: string) => roundTripsAt(peers, id, 100)?.counted
    expect(['mutex', 'ticket', 'c-mutex', 'k-lock', 'z-lock', 'zoo-lock'].map(trips)).to.deep.equal([1, 1, 2, 2, 3, 4])
  })

  it('says of the newest versions what the run has shown: the same counts, but for a LeaderLatch', () => {
    const costs = (id: string) =>
      peers.cells
        .filter(({ recipe }) => recipe === id)
        .map(({ size, phases: { release, join } }) => ({ size, release: release.tally, join: join.tally }))
    const newest = peers.cells.map(({ recipe }) => recipe).filter(id => /^[ck]n-/.test(id))
    const differing = newest.filter(id => !isDeepStrictEqual(costs(id), costs(id.replace('n-', '-'))))
    expect([...new Set(differing)]).to.deep.equal(newest.length === 0 ? [] : ['cn-latch'])
  })

  it('has exact counts of ten thousand sessions that were forecast from a thousand and fewer', () => {
    expect(large).to.include({ ended: 'complete' })
    const figures = heldOutOf(large)
    expect([...new Set(figures.map(({ size, sizes }) => `${size} from ${Math.max(...sizes)}`))]).to.deep.equal([
      '10000 from 1000',
    ])
    const counts = figures.filter(({ what }) => !what.endsWith('ms'))
    expect(counts).to.have.length(17)
    for (const count of counts) expect(errorOf(count), `${count.scenario} ${count.what}`).to.equal(0)
    // A release of a ticket lock takes two milliseconds, and few were measured.
    const far = figures.filter(each => !isClose(each)).map(({ scenario, what }) => `${scenario} ${what}`)
    expect([...new Set(far)]).to.have.members(['ticket client CPU, ms', 'ticket duration, ms'])
  })

  it('has the figures that the picture of the README shows', () => {
    const picture = readDocument('docs/herd.svg')
    const page = readDocument('docs/herd.md').replaceAll('\n', ' ')
    for (const [lock, unit] of [
      ['HerdMutex', 'MB'],
      ['Mutex', 'kB'],
    ] as const) {
      const release = new RegExp(`\\(\`${lock}\`.*?One release: \\*\\*(\\d+ notifications?), ([\\d.]+)[kM] bytes read`)
      const [, notifications, bytes] = release.exec(page) ?? expect.fail(lock)
      expect(picture).to.include(`>${notifications}, ${Math.round(Number(bytes))} ${unit} read<`)
      expect(readDocument('README.md').slice(0, 1000)).to.match(new RegExp(`${Math.round(Number(bytes))}\\s${unit}`))
    }
  })

  it('is based on a complete run on Apache ZooKeeper whose exponents match the theory', () => {
    expect(result).to.include({ ended: 'complete' })
    expect(result.server.kind).to.equal('apache')
    for (const { scenario, bytes, theory } of result.growth)
      if (bytes !== undefined) expect(bytes.exponent, scenario).to.be.closeTo(theory.bytes, 0.15)
  })
})
