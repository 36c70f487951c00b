import { expect } from 'chai'
import { enter, activate, isIn, runIn } from '../../../src/recipes/locks/async-owner.ts'

/** A scope that counts how often it is checked. */
class CountingScope {
  checks = 0
  #isOver = false

  get isOver(): boolean {
    this.checks++
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
  }
}

describe('an async context', () => {
  before(activate)

  it('is in the scope that it entered, and so are the tasks that it starts afterwards, and no others', async () => {
    const one = new CountingScope()
    const before = Promise.resolve().then(() => isIn(one))
    const enterAndCheck = async () => {
      await Promise.resolve()
      enter(one)
      await Promise.resolve()
      return [isIn(one), await Promise.resolve().then(() => isIn(one))]
    }
    expect(await enterAndCheck()).to.deep.equal([true, true])
    expect(await before).to.equal(false)
    expect(isIn(one)).to.equal(false)
  })

  it('can be in several scopes, and runs a function in another one', () => {
    const [outer, inner] = [new CountingScope(), new CountingScope()]
    const checks = runIn(outer, () => [runIn(inner, () => [isIn(outer), isIn(inner)]), isIn(inner)])
    expect(checks).to.deep.equal([[true, true], false])
  })

  it('drops scopes that have ended, so that a loop does not grow it, even if each scope ends after the next is entered', async () => {
    const all = Array.from({ length: 100 }, () => new CountingScope())
    const loop = async () => {
      for (const [i, each] of all.entries()) {
        enter(each)
        await Promise.resolve()
        all[i - 1]?.end()
      }
    }
    await loop()
    expect(Math.max(...all.map(({ checks }) => checks))).to.equal(2)
  })
})
