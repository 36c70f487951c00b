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

  it('is based on a complete run on Apache ZooKeeper whose exponents match the theory', () => {
    expect(result).to.include({ ended: 'complete' })
    expect(result.server.kind).to.equal('apache')
    for (const { scenario, bytes, theory } of result.growth)
      if (bytes !== undefined) expect(bytes.exponent, scenario).to.be.closeTo(theory.bytes, 0.15)
  })
})
