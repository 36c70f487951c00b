import { expect } from 'chai'
import fc from 'fast-check'
import { operations } from '../../src/protocol/index.ts'
import { Request, RequestList, xidAfter } from '../../src/session/request.ts'

const requestOf = (signal?: AbortSignal) =>
  new Request({ op: operations.ping, body: {}, path: '/a', result: () => undefined, signal })

describe('xids', () => {
  it('E7: count up, start over from 1 at the end, and never meet those with a meaning of their own', () => {
    expect([0, 1, 41].map(xidAfter)).to.deep.equal([1, 2, 42])
    expect(xidAfter(0x7fff_fffe)).to.equal(0x7fff_ffff)
    expect(xidAfter(0x7fff_ffff)).to.equal(1)
  })
})

describe('a list of requests', () => {
  it('is a queue that any one can leave', () => {
    const steps = fc.array(
      fc.oneof(
        fc.constant({ do: 'push' as const, at: 0 }),
        fc.constant({ do: 'shift' as const, at: 0 }),
        fc.record({ do: fc.constantFrom('remove' as const, 'removeStranger' as const), at: fc.nat(20) }),
      ),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(steps, script => {
        const list = new RequestList()
        const other = new RequestList()
        const model: Request[] = []
        for (const step of script) {
          if (step.do === 'push') {
            const request = requestOf()
            list.push(request)
            model.push(request)
          } else if (step.do === 'shift') {
            expect(list.shift()).to.equal(model.shift())
          } else if (step.do === 'remove' && model.length > 0) {
            const [request] = model.splice(step.at % model.length, 1)
            list.remove(request as Request)
            list.remove(request as Request)
          } else {
            const stranger = requestOf()
            other.push(stranger)
            list.remove(stranger)
            list.remove(requestOf())
          }
          expect(list.size).to.equal(model.length)
          expect(list.first).to.equal(model[0])
        }
        for (const request of model) expect(list.shift()).to.equal(request)
        expect(list.shift()).to.equal(undefined)
      }),
    )
  })
})

describe('a request', () => {
  it('settles once: the first word counts', async () => {
    const resolved = requestOf()
    resolved.resolve(1)
    resolved.resolve(2)
    resolved.reject(new Error('late'))
    resolved.fail('CLOSED', 'unknown')
    expect(await resolved.promise).to.equal(1)
    const failed = requestOf()
    failed.fail('CLOSED', 'notSent')
    failed.resolve(1)
    expect(await failed.promise.catch((error: unknown) => error)).to.include({
      code: 'CLOSED',
      fate: 'notSent',
      op: 'ping',
      path: '/a',
    })
  })

  it('hears of its signal until it is settled', async () => {
    const given = new AbortController()
    let aborts = 0
    const open = requestOf(given.signal)
    open.whenAborted(() => aborts++)
    const done = requestOf(given.signal)
    done.whenAborted(() => aborts++)
    done.resolve(1)
    await done.promise
    given.abort()
    expect(aborts).to.equal(1)
  })
})
