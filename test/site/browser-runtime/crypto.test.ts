import { expect } from 'chai'
import fc from 'fast-check'
import * as node from 'node:crypto'
import * as browser from '../../../site/browser-runtime/crypto.ts'

describe('the hashes of a browser', () => {
  for (const algorithm of ['md5', 'sha1'] as const)
    it(`are those of node:crypto: ${algorithm}`, () =>
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
          const expected = node.createHash(algorithm).update(bytes).digest('hex')
          expect(browser.createHash(algorithm).update(bytes).digest().toString('hex')).to.equal(expected)
        }),
        { examples: [0, 55, 56, 63, 64, 119, 120, 128].map(length => [new Uint8Array(length)]) },
      ))

  it('compare secrets by all their bytes', () => {
    const { timingSafeEqual } = browser
    expect(timingSafeEqual(Buffer.from('abc'), Buffer.from('abc'))).to.equal(true)
    expect(timingSafeEqual(Buffer.from('abc'), Buffer.from('abd'))).to.equal(false)
    expect(timingSafeEqual(Buffer.from('abc'), Buffer.from('ab'))).to.equal(false)
  })
})
