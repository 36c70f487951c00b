import { expect } from 'chai'
import { systemRandom } from '../../src/runtime/random.ts'
import { uuidFrom } from '../../src/runtime/uuid.ts'

describe('a UUID', () => {
  it('has the form of version 4 (RFC 9562), whatever the random numbers are', () => {
    for (const random of [systemRandom, () => 0, () => 0.5, () => 0.999_999_999_9])
      for (let i = 0; i < 100; i++)
        expect(uuidFrom(random)).to.match(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  })

  it('is different each time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => uuidFrom(systemRandom))).size).to.equal(1000)
  })
})
