// Checks docs/herd.md against the recorded run.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { readResult, type Result } from '../../bench/output/result.ts'
import { readDocument } from '../support/document.ts'
import { herdPage } from './herd-page.ts'

describe('docs/herd.md', () => {
  let result: Result
  before(async () => {
    result = await readResult(fileURLToPath(new URL('../../docs/herd.json', import.meta.url)))
  })

  it('is what write-herd.ts generates from the recorded run', () => {
    expect(readDocument('docs/herd.md')).to.equal(herdPage(result))
  })

  it('changes when the figures of the run change', () => {
    const other = structuredClone(result)
    for (const { phases } of other.cells) for (const { counts } of phases) counts.bytesReceived.median *= 2
    expect(herdPage(other)).not.to.equal(herdPage(result))
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
