import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from '../../environment/needs.ts'
import { explorations } from './bounds.ts'
import { explore, titleOf } from './explorer.ts'
import { minimised, tell } from './story.ts'
import { titlesIn } from './table.ts'

describe('every schedule of a small world', function () {
  // An exploration is computation and nothing else, so its time depends on what else the machine does.
  this.timeout(300_000)

  for (const exploration of explorations.filter(({ size }) => size === 'quick'))
    it(`keeps the promises of ${titleOf(exploration)}`, async () => {
      const { failure, schedules, isWhole } = await explore(exploration)
      if (failure !== undefined) expect.fail(tell(exploration, await minimised(exploration, failure.schedule)))
      expect(schedules).to.be.greaterThan(1)
      expect(isWhole).to.equal(true)
    })

  it('belongs to bounds.ts for each row of the page', () => {
    const titles = titlesIn(readFileSync(join(root, 'docs/exploration.md'), 'utf8'))
    expect(titles).to.have.length.greaterThan(10)
    expect(explorations.map(titleOf)).to.include.members(titles)
  })
})
