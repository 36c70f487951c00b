import { expect } from 'chai'
import { unlessRefused } from '../../src/client/unless-refused.ts'
import { ZooKeeperError } from '../../src/index.ts'
import { failureOf } from '../support/settled.ts'

describe('a call whose refusal is an answer', () => {
  const rejection = (code: 'NONODE' | 'NOAUTH') =>
    Promise.reject<string>(new ZooKeeperError(code, { op: 'getData', fate: 'refused' }))

  it('resolves as it would, or with undefined for the refusals that it names', async () => {
    expect(await unlessRefused(Promise.resolve('a'), 'NONODE')).to.equal('a')
    expect(await unlessRefused(rejection('NONODE'), 'NOAUTH', 'NONODE')).to.equal(undefined)
  })

  it('rejects with each other error', async () => {
    expect(await failureOf(unlessRefused(rejection('NOAUTH'), 'NONODE'))).to.have.property('code', 'NOAUTH')
    expect(await failureOf(unlessRefused(Promise.reject(new Error('mine')), 'NONODE'))).to.have.property(
      'message',
      'mine',
    )
  })
})
