// `zkwire who`: the order of a queue, and who holds the lock.
import { expect } from 'chai'
import { holdersOf, roleOf, sequenceOf } from '../../../src/cli/nodes/contenders.ts'

const UUID = '01234567-89ab-4cde-8f01-23456789abcd'

describe('the queue that zkwire who prints', () => {
  it('is ordered by the numbers at the ends of the names, whatever comes before', () => {
    const names = [`_c_${UUID}-lock-0000000012`, `${UUID.replaceAll('-', '')}__lock__0000000013`, 'x-72057-0000000014']
    expect(names.map(sequenceOf)).to.deep.equal([12, 13, 14])
    expect(sequenceOf(`_c_${UUID}-__READ__-2147483648`)).to.equal(-2_147_483_648)
    expect(sequenceOf(`_c_${UUID}-lock--000000001`)).to.equal(-1)
  })

  it('distinguishes readers and permits from all others', () => {
    const names = [`_c_${UUID}-__READ__0000000001`, 'abc__rlock__0000000001', `_c_${UUID}-lease-0000000001`]
    expect(names.map(roleOf)).to.deep.equal(['reader', 'reader', 'permit'])
    expect([`_c_${UUID}-__WRIT__0000000001`, 't-0000000001'].map(roleOf)).to.deep.equal(['exclusive', 'exclusive'])
  })

  it('is held by the first contender, or by the readers before the first writer, or by all permits', () => {
    const holders = (...roles: ('reader' | 'permit' | 'exclusive')[]) => holdersOf(roles.map(role => ({ role })))
    expect(holders()).to.equal(0)
    expect(holders('exclusive', 'exclusive')).to.equal(1)
    expect(holders('exclusive', 'reader')).to.equal(1)
    expect(holders('reader', 'reader', 'exclusive', 'reader')).to.equal(2)
    expect(holders('permit', 'permit')).to.equal(2)
  })
})
