// What docs/herd.md says: it is what the run says that it tells of, and the run bears it out.
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

  it('agrees with the run that it tells of', () => {
    expect(readDocument('docs/herd.md')).to.equal(herdPage(result))
  })

  it('changes with the run', () => {
    const other = structuredClone(result)
    for (const { phases } of other.cells) for (const { counts } of phases) counts.bytesReceived.median *= 2
    expect(herdPage(other)).not.to.equal(herdPage(result))
  })

  it('tells of a whole run, on an Apache ZooKeeper, whose exponents are those of the theory', () => {
    expect(result).to.include({ ended: 'complete' })
    expect(result.server.kind).to.equal('apache')
    for (const { scenario, bytes, theory } of result.growth)
      if (bytes !== undefined) expect(bytes.exponent, scenario).to.be.closeTo(theory.bytes, 0.15)
  })
})
