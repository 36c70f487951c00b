import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import { Request, xidAfter } from '../../../src/session/requests/request.ts'

const requestOf = (signal?: AbortSignal) =>
  new Request({ op: operations.ping, body: {}, path: '/a', result: () => undefined, signal })

describe('xids', () => {
  it('E7: count up, start over from 1 at the end, and never meet those with a meaning of their own', () => {
    expect([0, 1, 41].map(xidAfter)).to.deep.equal([1, 2, 42])
    expect(xidAfter(0x7fff_fffe)).to.equal(0x7fff_ffff)
    expect(xidAfter(0x7fff_ffff)).to.equal(1)
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
