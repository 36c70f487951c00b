import { expect } from 'chai'
import fc from 'fast-check'
import { Spots, type Spot } from '../../src/session/spots.ts'

class Counted implements Spot {
  uses = 0
  isLeft = false
  get isIdle(): boolean {
    return this.uses === 0
  }
}

const newSpots = () => new Spots(() => new Counted())
const paths = (spots: Spots<Counted>) => [...spots.entries()].map(([path]) => path)

describe('spots', () => {
  it('that are in use stay, whatever comes and goes beside them, and of the idle ones no more than an eighth and a few', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.boolean()), { minLength: 50, maxLength: 1000, size: 'max' })
    fc.assert(
      fc.property(steps, all => {
        const spots = newSpots()
        const uses = new Map<string, number>()
        for (const [i, isUse] of all) {
          const path = `/${i}`
          const before = uses.get(path) ?? 0
          if (!isUse && before === 0) continue
          const spot = spots.at(path)
          expect(spot.uses).to.equal(before)
          spot.uses += isUse ? 1 : -1
          uses.set(path, spot.uses)
          if (!isUse) spots.tidy(path, spot)
        }
        const used = [...uses].filter(([, count]) => count > 0).map(([path]) => path)
        expect(paths(spots)).to.include.members(used)
        const idle = paths(spots).length - used.length
        expect(idle).to.be.at.most(8 + paths(spots).length / 8 + 1)
      }),
    )
  })

  it('of a path that is in use again and again stay the same, and are not laid anew each time', () => {
    const spots = newSpots()
    for (let i = 0; i < 1000; i++) spots.at(`/others/${i}`).uses++
    const spot = spots.at('/again')
    for (let i = 0; i < 1000; i++) {
      spot.uses++
      spot.uses--
      spots.tidy('/again', spot)
      expect(spots.at('/again')).to.equal(spot)
    }
  })

  it('are gone, but for a few, when all of many have come to nothing', () => {
    const spots = newSpots()
    for (let i = 0; i < 10_000; i++) spots.at(`/${i}`).uses++
    for (const [path, spot] of spots.entries()) {
      spot.uses--
      spots.tidy(path, spot)
    }
    expect(paths(spots).length).to.be.at.most(10)
  })
})
