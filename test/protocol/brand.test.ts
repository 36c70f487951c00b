import { expect } from 'chai'
import { brand } from '../../src/protocol/brand.ts'

/** Makes a class as another copy of the package does. */
function copyOfClass(name = 'BrandTest') {
  class Branded {
    value = 1
  }
  brand(Branded, name)
  return Branded
}

describe('a branded class', () => {
  it('recognizes the instances of its copies', () => {
    const [One, Other] = [copyOfClass(), copyOfClass()]
    expect(new One()).to.be.an.instanceOf(Other)
    expect(new Other()).to.be.an.instanceOf(One)
  })

  it('recognizes the instances of subclasses of its copies', () => {
    const [One, Other] = [copyOfClass(), copyOfClass()]
    expect(new (class extends One {})()).to.be.an.instanceOf(Other)
  })

  it('has subclasses that recognize only their own instances', () => {
    const One = copyOfClass()
    class Sub extends One {}
    expect(new Sub()).to.be.an.instanceOf(Sub)
    expect(new One()).not.to.be.an.instanceOf(Sub)
    expect(new (copyOfClass())()).not.to.be.an.instanceOf(Sub)
  })

  it('recognizes nothing else', () => {
    const One = copyOfClass()
    const Stranger = copyOfClass('Stranger')
    for (const value of [null, undefined, 5, 'text', {}, [], Symbol.for('zkwire.BrandTest'), () => 1, new Stranger()])
      expect(value instanceof One).to.equal(false)
  })
})
