import { expect } from 'chai'
import { fleetCaveats } from '../../../bench/fleet/shared-run.ts'

describe('the caveats of a run on several machines', () => {
  const machine = (name: string) => ({ name, processes: 2, cores: 4 })

  it('say that clocks are not compared, and name each machine that was lost', () => {
    const caveats = fleetCaveats({
      machines: [machine('a (1)'), machine('b (2)')],
      lost: [{ name: 'c (3)', seconds: 7.4 }],
    })
    expect(caveats).to.have.length(3)
    expect(caveats[0]).to.contain('Clocks of machines are not compared')
    expect(caveats[2]).to.equal(
      'The machine c (3) left or died after 7 s. What was measured until then is left out, and the run began again without it.',
    )
  })

  it('are only the lost machines if one is left', () => {
    expect(fleetCaveats({ machines: [machine('a (1)')], lost: [] })).to.deep.equal([])
  })
})
