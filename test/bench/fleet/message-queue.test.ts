import { expect } from 'chai'
import { decode, encode, MessageQueue } from '../../../bench/fleet/message-queue.ts'

describe('the queue of messages between machines', () => {
  it('keeps values that JSON does not: NaN, Infinity, undefined, errors', () => {
    const [values] = decode<unknown[]>(encode([[NaN, Infinity, undefined, new Error('lost')]]))
    expect(values?.slice(0, 3)).to.deep.equal([NaN, Infinity, undefined])
    expect(values?.[3]).to.be.an('error').with.property('message', 'lost')
  })

  it('puts the messages of one turn into one item, and those sent meanwhile into the next', async () => {
    const items: string[][] = []
    const puts: (() => void)[] = []
    const put = (data: Uint8Array) => {
      items.push(decode<string>(data))
      return new Promise<void>(resolve => puts.push(resolve))
    }
    const queue = new MessageQueue<string>({ put }, () => undefined)
    queue.send('a')
    queue.send('b')
    await new Promise(setImmediate)
    queue.send('c')
    queue.send('d')
    expect(items).to.deep.equal([['a', 'b']])
    puts[0]?.()
    await new Promise(setImmediate)
    expect(items[1]).to.deep.equal(['c', 'd'])
    puts[1]?.()
    await queue.sent()
    queue.send('e')
    await new Promise(setImmediate)
    expect(items[2]).to.deep.equal(['e'])
  })

  it('reports that an item could not be put', async () => {
    const failures: unknown[] = []
    const queue = new MessageQueue<string>({ put: () => Promise.reject(new Error('no connection')) }, error =>
      failures.push(error),
    )
    queue.send('a')
    await queue.sent()
    expect(failures.map(String)).to.deep.equal(['Error: no connection'])
  })
})
