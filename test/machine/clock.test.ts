import { expect } from 'chai'
import { javaDate } from '../../src/machine/clock.ts'

describe('a time by the calendar', () => {
  it('is written as Java does: the day, the time, its zone and the year', () => {
    expect(javaDate(0)).to.equal('Thu Jan 01 00:00:00 UTC 1970')
    expect(javaDate(1_795_289_616_648)).to.equal('Sat Nov 21 19:33:36 UTC 2026')
  })
})
