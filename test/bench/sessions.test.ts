import { expect } from 'chai'
import { Sessions } from '../../bench/sessions.ts'
import { Meter } from '../../bench/tap.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'

const never = new AbortController().signal

describe('the sessions of the benchmark', () => {
  it('are each opened once, and closed', async () => {
    const { connectString } = await sharedServer()
    const lost: unknown[] = []
    const sessions = new Sessions(connectString, new Meter('/fence'), error => lost.push(error))
    const some = await sessions.take(60, never)
    const more = await sessions.take(70, never)
    expect(new Set(more.map(({ sessionId }) => sessionId))).to.have.property('size', 70)
    expect(more.slice(0, 60)).to.deep.equal(some)
    expect(await sessions.take(10, never)).to.deep.equal(some.slice(0, 10))
    await sessions.close()
    expect(new Set(more.map(({ state }) => state))).to.deep.equal(new Set(['closed']))
    expect(lost).to.deep.equal([])
  })

  it('are missed when one is lost', async () => {
    const server = await sharedServer()
    let onLost!: (error: Error) => void
    const lost = new Promise<Error>(resolve => (onLost = resolve))
    const sessions = new Sessions(server.connectString, new Meter('/fence'), onLost)
    const [victim] = await sessions.take(3, never)
    if (victim === undefined) throw new Error('no session')
    await expireSession(server, victim.sessionId, victim.sessionPassword)
    expect((await lost).message).to.contain(`session 0x${victim.sessionId.toString(16)} lost its connection`)
    await sessions.close()
  })

  it('are opened no more when the run ends meanwhile', async () => {
    const { connectString } = await sharedServer()
    const stop = new AbortController()
    const sessions = new Sessions(connectString, new Meter('/fence'), () => undefined)
    let opened = 0
    const taken = sessions.take(500, stop.signal, open => {
      opened = open
      if (open === 60) stop.abort(new Error('enough'))
    })
    const error: unknown = await taken.catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'enough')
    await sessions.close()
    expect(opened).to.be.below(500)
  })
})
