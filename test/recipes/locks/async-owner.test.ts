import { expect } from 'chai'
import { enter, activate, isIn, runIn } from '../../../src/recipes/locks/async-owner.ts'

/** It notes how often it is looked at. */
class Passing {
  looks = 0
  #isOver = false

  get isOver(): boolean {
    this.looks++
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
  }
}

describe('an async context', () => {
  before(activate)

  it('is under whatever it came under, and so is what it starts from then on, and nothing else', async () => {
    const one = new Passing()
    const before = Promise.resolve().then(() => isIn(one))
    const come = async () => {
      await Promise.resolve()
      enter(one)
      await Promise.resolve()
      return [isIn(one), await Promise.resolve().then(() => isIn(one))]
    }
    expect(await come()).to.deep.equal([true, true])
    expect(await before).to.equal(false)
    expect(isIn(one)).to.equal(false)
  })

  it('is under several things, and runs a function under one more', () => {
    const [outer, inner] = [new Passing(), new Passing()]
    const seen = runIn(outer, () => [runIn(inner, () => [isIn(outer), isIn(inner)]), isIn(inner)])
    expect(seen).to.deep.equal([[true, true], false])
  })

  it('forgets what is over, so that a loop does not grow it, not even one that comes under the next before it leaves the last', async () => {
    const all = Array.from({ length: 100 }, () => new Passing())
    const loop = async () => {
      for (const [i, each] of all.entries()) {
        enter(each)
        await Promise.resolve()
        all[i - 1]?.end()
      }
    }
    await loop()
    expect(Math.max(...all.map(({ looks }) => looks))).to.equal(2)
  })
})
