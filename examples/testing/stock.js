// The code under test: several processes sell pieces from a limited stock.
import { Mutex } from 'zkwire/recipes'

/** Resolves with the number of pieces left, or rejects if there are not enough. `zk` is a client of zkwire. */
export const sell = (zk, count) =>
  new Mutex(zk, '/locks/stock').use(async held => {
    const { data } = await zk.getData('/stock')
    const left = Number(data) - count
    if (left < 0) throw new Error(`${data} left`)
    await held.guard().setData('/stock', String(left)).commit() // writes nothing if the lock has been lost
    return left
  })
