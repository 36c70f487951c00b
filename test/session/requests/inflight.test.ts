import { expect } from 'chai'
import fc from 'fast-check'
import { operations } from '../../../src/protocol/index.ts'
import { Inflight } from '../../../src/session/requests/inflight.ts'
import { Request } from '../../../src/session/requests/request.ts'

const request = () => new Request({ op: operations.ping, body: {}, path: '/a', result: () => undefined })

describe('the requests that were sent', () => {
  it('leave in the order in which they came, however many come and go at a time', () => {
    const turns = fc.array(fc.record({ come: fc.nat(40), go: fc.nat(40) }), { maxLength: 30 })
    fc.assert(
      fc.property(turns, script => {
        const inflight = new Inflight()
        const model: Request[] = []
        for (const { come, go } of script) {
          for (let i = 0; i < come; i++) {
            const each = request()
            inflight.push(each)
            model.push(each)
          }
          for (let i = 0; i < go; i++) {
            expect(inflight.peek).to.equal(model[0])
            expect(inflight.shift()).to.equal(model.shift())
          }
          expect(inflight.size).to.equal(model.length)
        }
      }),
    )
  })

  it('are as many as there is need for, and after thousands a few are as before', () => {
    const inflight = new Inflight()
    for (const count of [5000, 1, 3, 2000]) {
      const all = Array.from({ length: count }, request)
      for (const each of all) inflight.push(each)
      expect(inflight.size).to.equal(count)
      for (const each of all) expect(inflight.shift()).to.equal(each)
      expect([inflight.size, inflight.peek, inflight.shift()]).to.deep.equal([0, undefined, undefined])
    }
  })
})
