import { expect } from 'chai'
import { Driver, eventIn } from '../../../bench/peers/driver.ts'

/** A program that prints each command line again, as an event of the contender 1. */
const echo = `
process.stdin.on('data', text => {
  for (const line of String(text).trim().split('\\n')) console.log(line + ' ' + process.hrtime.bigint())
})`

const start = (program = echo) => new Driver([process.execPath, '-e', program])

describe('the control of a program of contenders', () => {
  it('reads events, and skips the lines that a library prints', () => {
    expect(eventIn('held 12 1000000')).to.deep.include({ is: 'held', who: 12, message: '' })
    expect(eventIn('failed 3 1 lost: all of it')).to.deep.include({ is: 'failed', who: 3, message: 'lost: all of it' })
    for (const line of ['WARN no logger', 'held 12', 'sold 1 2', '']) expect(eventIn(line), line).to.equal(undefined)
  })

  it('converts the time of an event to the clock of this process', async () => {
    const driver = start()
    const before = performance.now()
    driver.send('held 1')
    await driver.until('lock', () => driver.has('held', 1))
    expect(driver.events[0]?.at).to.be.within(before, performance.now())
    await driver.close()
  })

  it('says what was expected and what has happened if an event is missing', async () => {
    const driver = start()
    driver.send('joining 1')
    await driver.until('join', () => driver.has('joining', 1))
    const error = await driver.until('lock', () => driver.has('held', 1), 20).catch((reason: unknown) => reason)
    expect(String(error)).to.match(/no lock within 20 ms. Happened: joining 1/)
    await driver.close()
  })

  it('rejects if a contender fails, but not if its session is being closed', async () => {
    const driver = start()
    driver.send('failed 2')
    const error = await driver.until('lock', () => driver.has('held', 1)).catch((reason: unknown) => reason)
    expect(String(error)).to.contain('contender 2 failed')
    const closing = driver.closeSessions([2])
    driver.send('failed 2', 'closed 2')
    await closing
    await driver.close()
  })

  it('rejects with the errors of a program that ends', async () => {
    const driver = start('console.error("no such class"); process.exit(1)')
    const error = await driver.until('lock', () => false).catch((reason: unknown) => reason)
    expect(String(error)).to.match(/has ended: no such class/)
    await driver.close()
  })

  it('passes a lock from contender to contender, and returns those that should not have got it', async () => {
    // Each contender that leaves lets the next one in; after the last of the queue, contender 9 appears once.
    const driver = start(`
      let isLate = false
      process.stdin.on('data', text => {
        for (const line of String(text).trim().split('\\n')) {
          const who = Number(line.split(' ')[1])
          console.log('left ' + who + ' 1')
          if (who < 3) console.log('held ' + (who + 1) + ' 1')
          else if (!isLate) { isLate = true; console.log('held 9 1') }
        }
      })`)
    const others = await driver.passOn(0, [1, 2, 3], () => driver.until('late one', () => driver.has('held', 9)))
    expect([...others]).to.deep.equal([9])
    await driver.close()
  })
})
