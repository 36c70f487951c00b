// The bytes that a TicketMutex costs, compared with those of a Mutex.
import { expect } from 'chai'
import type { ObservedFrame } from '../../../src/index.ts'
import { ReplyHeader, RequestHeader, xids } from '../../../src/protocol/index.ts'
import { Mutex, TicketMutex } from '../../../src/recipes/index.ts'
import { until } from '../../../environment/until.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

describe('TicketMutex on the wire', () => {
  /**
   * Returns the bytes of requests, replies and events, without pings, while `count` contenders queue and acquire the
   * lock in turn.
   */
  async function bytesFor(Lock: typeof TicketMutex | typeof Mutex, count: number): Promise<number> {
    // No time passes, because a holder's session asks the leader from time to time, which costs bytes too.
    await using virtual = await VirtualServer.start()
    let bytes = 0
    const onFrame = (frame: ObservedFrame) => {
      if (frame.first) return
      const { xid } = (frame.from === 'client' ? RequestHeader : ReplyHeader).decode(frame.bytes)
      if (xid !== xids.ping) bytes += 4 + frame.bytes.length
    }
    const observer = await virtual.connect()
    await observer.ensurePath('/lock')
    const holder = await new Lock(observer, '/lock').acquire()
    const clients = await Promise.all(Array.from({ length: 10 }, () => virtual.connect({ onFrame })))
    const acquiring = clients.flatMap(client =>
      Array.from({ length: count / clients.length }, async () => {
        await (await new Lock(client, '/lock').acquire()).release()
      }),
    )
    await until(() => virtual.ephemerals.length > count)
    // Each waiter has then set its watches.
    for (let i = 0; i < 3; i++) await Promise.all(clients.map(client => client.sync('/')))
    await holder.release()
    await Promise.all(acquiring)
    await Promise.all(clients.map(client => client.settled()))
    return bytes
  }

  it('costs the same bytes for each further contender, unlike Mutex, in which each lists all others', async function () {
    const bytesPerContender = async (Lock: typeof TicketMutex | typeof Mutex, count: number) =>
      (await bytesFor(Lock, count)) / count
    const few = await bytesFor(TicketMutex, 50)
    const [some, many] = [await bytesFor(TicketMutex, 200), await bytesFor(TicketMutex, 500)]
    expect((many - some) / 300).to.equal((some - few) / 150)
    const mutex = [await bytesPerContender(Mutex, 50), await bytesPerContender(Mutex, 500)] as const
    // Each contender lists at least once, on average with half of the others present: 225 more names of over 40 bytes
    // each.
    expect(mutex[1] - mutex[0]).to.be.above(225 * 40)
    if (this.test)
      this.test.title += ` (${(many - some) / 300} bytes; Mutex ${mutex.map(Math.round).join(' and ')} bytes)`
  })
})
