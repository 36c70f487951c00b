// The transactions that a server of an ensemble keeps for servers that lag.
import { expect } from 'chai'
import type { LoggedTransaction } from '../../src/server/database/transaction.ts'
import { TransactionLog } from '../../src/server/ensemble/log.ts'

describe('the log of a server of an ensemble', () => {
  const KEPT = 3

  /** A log that began after the transaction 10. */
  const logOf = (...zxids: bigint[]) => {
    const log = new TransactionLog(10n, KEPT)
    for (const zxid of zxids) log.push({ zxid } as LoggedTransaction)
    return log
  }
  const after = (log: TransactionLog, zxid: bigint) => log.after(zxid).map(each => each.zxid)

  it('has the transactions after each of its own, and after the one before the first', () => {
    const log = logOf(11n, 13n)
    expect([10n, 11n, 13n].map(zxid => after(log, zxid))).to.deep.equal([[11n, 13n], [13n], []])
    expect([9n, 10n, 11n, 12n, 13n, 14n].map(zxid => log.floor(zxid))).to.deep.equal([
      undefined,
      10n,
      11n,
      11n,
      13n,
      13n,
    ])
    expect(() => log.after(12n)).to.throw('the log has no transaction 0xc')
  })

  it('removes the oldest when twice as many are applied as stay, and then begins after the last of these', () => {
    const log = logOf(11n, 12n, 13n, 14n, 15n, 16n)
    log.trim(15n)
    expect(log.floor(10n)).to.equal(10n)
    log.trim(16n)
    expect([12n, 13n, 14n].map(zxid => log.floor(zxid))).to.deep.equal([undefined, 13n, 14n])
    expect(after(log, 13n)).to.deep.equal([14n, 15n, 16n])
    expect(log.last).to.equal(16n)
  })

  it('continues after the point to which it is cut, or after a snapshot', () => {
    const log = logOf(11n, 12n, 13n)
    log.truncate(11n)
    expect(log.last).to.equal(11n)
    log.reset(20n)
    expect([log.last, after(log, 20n), log.floor(11n)]).to.deep.equal([20n, [], undefined])
  })
})
