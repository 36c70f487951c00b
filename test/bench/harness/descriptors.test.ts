import { expect } from 'chai'
import { refuseWithoutDescriptors, TooManySessions } from '../../../bench/harness/descriptors.ts'

describe('the check of file descriptors', () => {
  it('rejects a run that needs more descriptors than the limit, and says what to do', () => {
    refuseWithoutDescriptors(1000, 2, undefined, () => 1200)
    expect(() => refuseWithoutDescriptors(10_001, 2, undefined, () => 1024))
      .to.throw(TooManySessions)
      .with.property('message')
      .that.matches(
        /^10001 concurrent sessions need 10151 file descriptors, but this program may open only 1024\..*ulimit -n 10151/,
      )
  })

  it('includes the server if this run started it', () => {
    const limitOf = (pid: number | 'self') => (pid === 42 ? 1024 : 1e6)
    expect(() => refuseWithoutDescriptors(5000, 1, 42, limitOf)).to.throw(/the server may open only 1024/)
    refuseWithoutDescriptors(5000, 1, undefined, limitOf)
  })

  it('passes if the limit is unknown', () => {
    refuseWithoutDescriptors(1e9, 1, 1, () => undefined)
  })

  it('reads the limit of this process', () => {
    expect(() => refuseWithoutDescriptors(1e12, 1, undefined)).to.throw(TooManySessions)
  })
})
