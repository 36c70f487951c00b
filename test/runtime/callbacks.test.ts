import { expect } from 'chai'
import { CallbackRunner } from '../../src/runtime/callbacks.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { uncaughtIn } from '../support/uncaught.ts'

describe('CallbackRunner', () => {
  it('reports callbacks that throw or reject, and still calls the next ones', async () => {
    const reported: unknown[] = []
    const code = new CallbackRunner(error => reported.push(error))
    code.now(() => Promise.reject(new Error('later')), undefined)
    code.now(() => {
      throw new Error('now')
    }, undefined)
    await settle()
    expect(reported.map(error => (error as Error).message)).to.deep.equal(['now', 'later'])
  })

  it('lets an error of onError become an uncaught exception, and still calls the next callbacks', async () => {
    const code = new CallbackRunner(error => {
      throw new Error(`about ${(error as Error).message}`)
    })
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.prependListener('unhandledRejection', note)
    const called: string[] = []
    const thrown = await uncaughtIn(async () => {
      code.now(() => {
        throw new Error('now')
      }, undefined)
      code.later(() => {
        throw new Error('later')
      }, undefined)
      code.now(() => Promise.reject(new Error('rejected')), undefined)
      code.later(each => called.push(each), 'the next')
      await settle()
    })
    process.removeListener('unhandledRejection', note)
    expect(thrown.map(error => (error as Error).message).sort()).to.deep.equal([
      'about later',
      'about now',
      'about rejected',
    ])
    expect([called, unhandled]).to.deep.equal([['the next'], []])
  })
})
