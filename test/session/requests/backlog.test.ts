import { expect } from 'chai'
import fc from 'fast-check'
import { operations } from '../../../src/protocol/index.ts'
import { Backlog } from '../../../src/session/requests/backlog.ts'
import { Request } from '../../../src/session/requests/request.ts'

const requestOf = (path = '/a') => new Request(operations.sync, { path }, path, () => undefined)

describe('a backlog of requests', () => {
  it('is a queue from which any request can be removed', () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constant({ do: 'push' as const, at: 0 }) },
        fc.record({ do: fc.constantFrom('remove' as const, 'removeUnqueued' as const), at: fc.nat(20) }),
        fc.record({ do: fc.constantFrom('drain' as const, 'sendAgain' as const), at: fc.nat(3) }),
      ),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(steps, script => {
        const backlog = new Backlog()
        const other = new Backlog()
        const model: Request[] = []
        for (const { do: what, at } of script) {
          if (what === 'push') {
            const request = requestOf()
            backlog.push(request, Infinity)
            model.push(request)
          } else if (what === 'remove' && model.length > 0) {
            const [request] = model.splice(at % model.length, 1) as [Request]
            expect([backlog.remove(request), backlog.remove(request)]).to.deep.equal([true, false])
          } else if (what === 'sendAgain') {
            // Those that may not be sent yet are looked at, and stay.
            for (const _ of backlog.drain(() => false)) expect.fail('nothing may be sent')
            const again = Array.from({ length: at }, () => requestOf())
            backlog.unshift(again)
            model.unshift(...again)
          } else if (what === 'drain') {
            // A caller that stops in the middle has removed only the requests that it received.
            const drain = backlog.drain()
            for (let i = 0; i < at; i++) expect(drain.next().value).to.equal(model.shift())
          } else {
            const unqueued = requestOf()
            other.push(unqueued, Infinity)
            expect(backlog.remove(unqueued)).to.equal(false)
          }
        }
        expect([...backlog.drain()]).to.deep.equal(model)
        expect([...backlog.drain()]).to.deep.equal([])
      }),
    )
  })

  it('encodes a request when it is queued, and keeps nothing of a request that is too long', () => {
    const backlog = new Backlog()
    expect(() => backlog.push(requestOf('/long'.padEnd(100, 'x')), 50)).to.throw(RangeError)
    const body = { path: '/before' }
    const request = new Request(operations.sync, body, '', () => undefined)
    backlog.push(request, 50)
    body.path = '/after'
    expect([...backlog.drain()]).to.deep.equal([request])
    expect(request.frame?.toString('latin1')).to.contain('/before')
  })
})
