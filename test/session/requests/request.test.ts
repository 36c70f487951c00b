// The class Request on its own: how it settles, when it listens to its signal, and the numbering of requests (xids).
import { expect } from 'chai'
import { errnos, operations, Reader } from '../../../src/protocol/index.ts'
import { Request, xidAfter } from '../../../src/session/requests/request.ts'
import { failureOf } from '../../support/settled.ts'

const requestOf = (signal?: AbortSignal) => new Request(operations.ping, {}, '/a', () => undefined, signal)

describe('xids', () => {
  it('count up, restart from 1 after the maximum, and never equal a reserved xid', () => {
    expect([0, 1, 41].map(xidAfter)).to.deep.equal([1, 2, 42])
    expect(xidAfter(0x7fff_fffe)).to.equal(0x7fff_ffff)
    expect(xidAfter(0x7fff_ffff)).to.equal(1)
  })
})

describe('a request', () => {
  it('settles once, with the first result', async () => {
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

  it('has the fate "unknown" after an error that leaves open whether it was executed, and "refused" after others', async () => {
    for (const [code, fate] of [
      ['CONNECTIONLOSS', 'unknown'],
      ['OPERATIONTIMEOUT', 'unknown'],
      ['REQUESTTIMEOUT', 'unknown'],
      ['NONODE', 'refused'],
      ['THROTTLEDOP', 'refused'],
    ] as const) {
      const request = requestOf()
      request.answer(errnos[code], new Reader(), { arm: () => undefined })
      expect(await failureOf(request.promise)).to.include({ code, fate })
    }
  })

  it('rejects also with an error that only a bug can cause, which it throws too', async () => {
    const bug = new TypeError('no such property')
    const request = new Request(operations.ping, {}, '/a', () => {
      throw bug
    })
    expect(() => request.answer(0, new Reader(), { arm: () => undefined })).to.throw(bug)
    expect(request.settled).to.equal(true)
    expect(await failureOf(request.promise)).to.equal(bug)
  })

  it('listens to its signal until it is settled', async () => {
    const controller = new AbortController()
    let aborts = 0
    const open = requestOf(controller.signal)
    open.whenAborted(() => aborts++)
    const done = requestOf(controller.signal)
    done.whenAborted(() => aborts++)
    done.resolve(1)
    await done.promise
    controller.abort()
    expect(aborts).to.equal(1)
  })
})
