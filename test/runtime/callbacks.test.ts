import { expect } from 'chai'
import { CallbackRunner } from '../../src/runtime/callbacks.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { uncaughtDuring } from '../support/uncaught-exceptions.ts'

describe('callbacks of the caller', () => {
  it('are reported where they throw or reject, and go on to be called', async () => {
    const reported: unknown[] = []
    const code = new CallbackRunner(error => reported.push(error))
    code.now(() => Promise.reject(new Error('later')), undefined)
    code.now(() => {
      throw new Error('now')
    }, undefined)
    await settle()
    expect(reported.map(error => (error as Error).message)).to.deep.equal(['now', 'later'])
  })

  it('whose errors are reported to who throws himself: his error is uncaught, and stops nothing here', async () => {
    const code = new CallbackRunner(error => {
      throw new Error(`about ${(error as Error).message}`)
    })
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.prependListener('unhandledRejection', note)
    const called: string[] = []
    const thrown = await uncaughtDuring(async () => {
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
