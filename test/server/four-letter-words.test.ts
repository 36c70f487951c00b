import { expect } from 'chai'
import { javaDate } from '../../src/server/connection/four-letter-words.ts'

describe('a date in a four-letter word', () => {
  it('has the format of Java: the day, the time, its zone and the year', () => {
    expect(javaDate(0)).to.equal('Thu Jan 01 00:00:00 UTC 1970')
    expect(javaDate(1_795_289_616_648)).to.equal('Sat Nov 21 19:33:36 UTC 2026')
  })
})
