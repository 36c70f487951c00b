import { expect } from 'chai'
import { Background } from '../../src/session/background.ts'
import { deferred } from '../../src/runtime/deferred.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { trackSettled } from '../support/settled.ts'

describe('background work', () => {
  it('is settled when no work is running, including work that was started meanwhile', async () => {
    const background = new Background()
    await background.settled()
    const [first, second] = [deferred(), deferred()]
    background.run(first.promise)
    const isSettled = trackSettled(background.settled())
    background.run(second.promise)
    first.resolve()
    await settle()
    expect(isSettled()).to.equal(false)
    const third = deferred()
    background.run(second.promise.then(() => background.run(third.promise)))
    second.resolve()
    await settle()
    expect(isSettled()).to.equal(false)
    third.resolve()
    await settle()
    expect(isSettled()).to.equal(true)
  })

  it('may reject, which rejects neither settled() nor the process', async () => {
    const background = new Background()
    background.run(Promise.reject(new Error('on purpose')))
    await background.settled()
  })
})
