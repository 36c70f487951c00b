import { expect } from 'chai'
import { refuseWithoutDescriptors, TooManySessions } from '../../../bench/harness/descriptors.ts'

describe('the check of file descriptors', () => {
  it('rejects a run that needs more descriptors than the limit, and says what to do', () => {
    refuseWithoutDescriptors({ sessions: 1000, threads: 2, servers: [] }, () => 1200)
    expect(() => refuseWithoutDescriptors({ sessions: 10_001, threads: 2, servers: [] }, () => 1024))
      .to.throw(TooManySessions)
      .with.property('message')
      .that.matches(
        /^10001 concurrent sessions need 10151 file descriptors, but this program may open only 1024\..*ulimit -n 10151/,
      )
  })

  it('includes the server if this run started it', () => {
    const limitOf = (pid: number | 'self') => (pid === 42 ? 1024 : 1e6)
    expect(() => refuseWithoutDescriptors({ sessions: 5000, threads: 1, servers: [42] }, limitOf)).to.throw(
      /the server may open only 1024/,
    )
    refuseWithoutDescriptors({ sessions: 5000, threads: 1, servers: [] }, limitOf)
  })

  it('divides the sessions by the processes, and by the servers of an ensemble', () => {
    const needs = { sessions: 3000, processes: 3, threads: 1, servers: [1, 2, 3] }
    refuseWithoutDescriptors(needs, () => 1200)
    expect(() => refuseWithoutDescriptors({ ...needs, processes: 2 }, () => 1200)).to.throw(
      /need 1625 .* each process of this program may open only 1200/,
    )
    expect(() => refuseWithoutDescriptors({ ...needs, servers: [1] }, () => 1200)).to.throw(
      /need 3125 .* the server may open only 1200/,
    )
  })

  it('passes if the limit is unknown', () => {
    refuseWithoutDescriptors({ sessions: 1e9, threads: 1, servers: [1] }, () => undefined)
  })

  it('reads the limit of this process', () => {
    expect(() => refuseWithoutDescriptors({ sessions: 1e12, threads: 1, servers: [] })).to.throw(TooManySessions)
  })
})
