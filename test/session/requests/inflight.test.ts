import { expect } from 'chai'
import fc from 'fast-check'
import { operations } from '../../../src/protocol/index.ts'
import { Inflight } from '../../../src/session/requests/inflight.ts'
import { Request } from '../../../src/session/requests/request.ts'

const request = () => new Request(operations.ping, {}, '/a', () => undefined)

describe('the requests in flight', () => {
  it('are removed in the order in which they were added', () => {
    const turns = fc.array(fc.record({ added: fc.nat(40), removed: fc.nat(40) }), { maxLength: 30 })
    fc.assert(
      fc.property(turns, script => {
        const inflight = new Inflight()
        const model: Request[] = []
        for (const { added, removed } of script) {
          for (let i = 0; i < added; i++) {
            const each = request()
            inflight.push(each)
            model.push(each)
          }
          for (let i = 0; i < removed; i++) {
            expect(inflight.oldest).to.equal(model[0])
            expect(inflight.shift()).to.equal(model.shift())
          }
          expect(inflight.size).to.equal(model.length)
        }
      }),
    )
  })

  it('can be thousands, and keep their order when there are few again', () => {
    const inflight = new Inflight()
    for (const count of [5000, 1, 3, 2000]) {
      const all = Array.from({ length: count }, request)
      for (const each of all) inflight.push(each)
      expect(inflight.size).to.equal(count)
      for (const each of all) expect(inflight.shift()).to.equal(each)
      expect([inflight.size, inflight.oldest, inflight.shift()]).to.deep.equal([0, undefined, undefined])
    }
  })
})
