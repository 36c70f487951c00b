import { expect } from 'chai'
import { settle } from '../../src/testing/virtual-clock.ts'
import { eventFrame, type Received } from '../support/scripted-server.ts'
import { dataReply, scriptedSession } from '../support/scripted-session.ts'
import { failureOf } from '../support/settled.ts'

describe('limits:', () => {
  it('100,000 calls in flight that set 100,000 watches take linear time and constant stack', async function () {
    this.timeout(90_000)
    const { client, connection } = await scriptedSession()
    let fired = 0
    const watch = () => {
      fired++
    }
    const paths = Array.from({ length: 100_000 }, (_, i) => `/${String(i).padStart(6, '0')}`)
    const startedAt = performance.now()
    const calls = paths.map(path => client.getData(path, { watch }))
    expect(await failureOf(client.getData('/one-more'))).to.include({ code: 'TOOMANYPENDING' })
    await settle()
    // The replies are patched copies of one frame, because encoding a hundred thousand frames would be the slowest
    // part.
    const reply = connection.replyTo(connection.requests[0] as Received, dataReply('', 9n))
    connection.send(...paths.map((_, i) => patched(reply, frame => frame.writeInt32BE(i + 1, 4))))
    await Promise.all(calls)
    const event = eventFrame(3, '/000000')
    connection.send(...paths.map(path => patched(event, frame => frame.write(path, 32))))
    await settle()
    expect(fired).to.equal(100_000)
    // All of this takes two seconds on an idle machine.
    expect(performance.now() - startedAt).to.be.below(60_000)
  })
})

function patched(frame: Buffer, patch: (frame: Buffer) => void): Buffer {
  const copy = Buffer.from(frame)
  patch(copy)
  return copy
}
