// What is tested: it sells pieces, of which there are only so many, from several processes at a time.
import { Mutex } from 'zkwire/recipes'

/** Resolves with how many are left, or rejects where there are not enough. `zk` is a client of zkwire. */
export const sell = (zk, count) =>
  new Mutex(zk, '/locks/stock').use(async held => {
    const { data } = await zk.getData('/stock')
    const left = Number(data) - count
    if (left < 0) throw new Error(`${data} left`)
    await held.guard().setData('/stock', String(left)).commit() // nothing is written by one who has lost the lock
    return left
  })
