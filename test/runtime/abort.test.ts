import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { onAbort } from '../../src/runtime/abort.ts'

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

describe('listening to a signal', () => {
  it('adds one listener to it, however many wait for it, and none is left when nobody waits', () => {
    const { signal } = new AbortController()
    const stops = Array.from({ length: 1000 }, () => onAbort(signal, () => undefined))
    expect(listeners(signal)).to.equal(1)
    for (const stop of stops.slice(1)) stop()
    expect(listeners(signal)).to.equal(1)
    stops[0]?.()
    expect(listeners(signal)).to.equal(0)
  })

  it('calls all back in their order, once, but for those who have stopped, even while it is told', () => {
    const controller = new AbortController()
    const { signal } = controller
    const told: number[] = []
    onAbort(signal, () => told.push(0))
    onAbort(signal, () => told.push(1))()
    onAbort(signal, () => {
      told.push(2)
      stopThird()
    })
    const stopThird = onAbort(signal, () => told.push(3))
    onAbort(signal, () => told.push(4))
    controller.abort()
    controller.abort()
    expect(told).to.deep.equal([0, 2, 4])
    expect(listeners(signal)).to.equal(0)
  })

  it('begins anew behind the last who stopped, and does not mind one who stops twice', () => {
    const controller = new AbortController()
    const told: string[] = []
    const stop = onAbort(controller.signal, () => told.push('first'))
    stop()
    onAbort(controller.signal, () => told.push('second'))
    stop()
    controller.abort()
    expect(told).to.deep.equal(['second'])
  })

  it('that has aborted hears no more of it', () => {
    const told: string[] = []
    const stop = onAbort(AbortSignal.abort(), () => told.push('late'))
    stop()
    expect(told).to.deep.equal([])
  })

  it('of none does nothing', () => {
    onAbort(undefined, () => expect.fail('there is nothing to hear'))()
  })
})
