import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { Abort, forwardAbort, inScope, onAbort, Scope, untilAborted } from '../../src/runtime/abort.ts'
import { failureOf } from '../support/settled.ts'

/** The same file as a module of its own, as in a process with two copies of the package. */
const copy = '../../src/runtime/abort.ts?copy'
const { Scope: ForeignScope } = (await import(copy)) as { Scope: typeof Scope }

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

describe('onAbort', () => {
  it('adds one listener for any number of callbacks, and removes it with the last callback', () => {
    const { signal } = new AbortController()
    const stops = Array.from({ length: 1000 }, () => onAbort(signal, () => undefined))
    expect(listeners(signal)).to.equal(1)
    for (const stop of stops.slice(1)) stop()
    expect(listeners(signal)).to.equal(1)
    stops[0]?.()
    expect(listeners(signal)).to.equal(0)
  })

  it('meets a scope of another copy of the package here', () => {
    expect(ForeignScope).not.to.equal(Scope)
  })

  for (const [name, create] of [
    ['an AbortController', () => new AbortController()],
    ['our own scope', () => new Scope()],
    ['a scope of another copy of the package', () => new ForeignScope()],
  ] as const)
    it(`calls back once and in order, except callbacks that have been removed, even during the abort, for ${name}`, () => {
      const controller = create()
      const { signal } = controller
      const calls: (number | boolean)[] = []
      onAbort(signal, () => calls.push(0, signal.aborted))
      onAbort(signal, () => calls.push(1))()
      onAbort(signal, () => {
        calls.push(2)
        stopThird()
      })
      const stopThird = onAbort(signal, () => calls.push(3))
      onAbort(signal, () => calls.push(4))
      controller.abort('first')
      controller.abort('second')
      onAbort(signal, () => calls.push(5))
      expect(calls).to.deep.equal([0, true, 2, 4])
      expect(signal.reason).to.equal('first')
      expect(() => signal.throwIfAborted()).to.throw('first')
      if (signal instanceof AbortSignal) expect(listeners(signal)).to.equal(0)
    })

  it('works again after the last callback was removed, and ignores a second removal', () => {
    const controller = new AbortController()
    const calls: string[] = []
    const stop = onAbort(controller.signal, () => calls.push('first'))
    stop()
    onAbort(controller.signal, () => calls.push('second'))
    stop()
    controller.abort()
    expect(calls).to.deep.equal(['second'])
  })

  it('never calls back for a signal that has already aborted', () => {
    const calls: string[] = []
    const stop = onAbort(AbortSignal.abort(), () => calls.push('late'))
    stop()
    expect(calls).to.deep.equal([])
  })

  it('does nothing without a signal', () => {
    onAbort(undefined, () => expect.fail('there is no signal'))()
  })
})

describe('forwardAbort', () => {
  it('aborts the controller with the reason of the signal, until it is stopped', () => {
    const [source, other] = [new AbortController(), new AbortController()]
    const [target, stopped] = [new AbortController(), new AbortController()]
    forwardAbort(source.signal, target)
    forwardAbort(other.signal, stopped)()
    source.abort('enough')
    other.abort('late')
    expect([target.signal.aborted, target.signal.reason]).to.deep.equal([true, 'enough'])
    expect(stopped.signal.aborted).to.equal(false)
  })

  it('aborts the controller at once if the signal has aborted already', () => {
    const target = new AbortController()
    forwardAbort(AbortSignal.abort('before'), target)
    expect([target.signal.aborted, target.signal.reason]).to.deep.equal([true, 'before'])
  })
})

describe('untilAborted', () => {
  it('settles as the work does, and does not listen to the signal afterwards', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve('done'), signal)).to.equal('done')
    expect(await failureOf(untilAborted(Promise.reject(new Error('broken')), signal))).to.have.property(
      'message',
      'broken',
    )
    expect(listeners(signal)).to.equal(0)
    expect(await untilAborted(Promise.resolve('done'), undefined)).to.equal('done')
  })

  it('rejects with the reason as soon as the signal aborts, also if it has aborted before', async () => {
    const controller = new AbortController()
    const waiting = failureOf(untilAborted(new Promise(() => undefined), controller.signal))
    controller.abort('enough')
    expect(await waiting).to.equal('enough')
    expect(await failureOf(untilAborted(Promise.reject(new Error('ignored')), controller.signal))).to.equal('enough')
    expect(listeners(controller.signal)).to.equal(0)
  })
})

describe('inScope', () => {
  it('aborts its signal when one of the given ones aborts, and when the work has ended or failed', async () => {
    const controller = new AbortController()
    const aborted = inScope([undefined, controller.signal], scope => untilAborted(new Promise(() => undefined), scope))
    controller.abort('enough')
    expect(await failureOf(aborted)).to.equal('enough')
    for (const end of [() => Promise.resolve(), () => Promise.reject(new Error('broken'))]) {
      const { signal } = new AbortController()
      let scope: AbortSignal | undefined
      await inScope([signal], async given => {
        scope = given
        expect([given.aborted, listeners(signal)]).to.deep.equal([false, 1])
        await end()
      }).catch(() => undefined)
      expect([scope?.aborted, listeners(signal)]).to.deep.equal([true, 0])
    }
  })
})

describe('Abort', () => {
  it('aborts its signal once, whether that was read before or is read later', () => {
    for (const isReadBefore of [true, false]) {
      const abort = new Abort()
      if (isReadBefore) expect(abort.signal.aborted).to.equal(false)
      expect(abort.isDone).to.equal(false)
      abort.abort(() => 'first')
      abort.abort(() => 'second')
      expect(abort.isDone).to.equal(true)
      expect([abort.signal.aborted, abort.signal.reason]).to.deep.equal([true, 'first'])
    }
  })

  it('calls back once when it is aborted, unless that was stopped, and creates no signal for it', () => {
    const [abort, calls] = [new Abort(), [] as string[]]
    abort.listen(() => calls.push(String(abort.isDone)))
    abort.listen(() => calls.push('stopped'))()
    abort.abort(() => expect.fail('nobody reads the reason'))
    abort.abort(() => 'second')
    abort.listen(() => calls.push('late'))()
    expect(calls).to.deep.equal(['true'])
  })
})
