import { expect } from 'chai'
import { BenchSession, openSessions } from '../../../bench/harness/sessions.ts'
import { FrameCounter } from '../../../bench/measure/frame-counter.ts'
import { expireSession, sharedServer } from '../../support/shared-server.ts'
import { until } from '../../../environment/until.ts'

const never = new AbortController().signal
const counter = () => new FrameCounter('/fence', { framePassed: () => undefined, otherFramePassed: () => undefined })

describe('the sessions of the benchmark', () => {
  it('are opened with limited concurrency, and closed', async () => {
    const { connectString } = await sharedServer()
    let opened = 0
    const make = () => new BenchSession(connectString, counter())
    const sessions = await openSessions(60, make, never, () => opened++)
    expect(opened).to.equal(60)
    expect(new Set(sessions.map(({ client }) => client.sessionId)).size).to.equal(60)
    await Promise.all(sessions.map(session => session.close()))
    expect(new Set(sessions.map(({ client }) => client.state))).to.deep.equal(new Set(['closed']))
  })

  it('report a lost connection', async () => {
    const server = await sharedServer()
    const session = await new BenchSession(server.connectString, counter()).open()
    const lost = new Promise<Error>(resolve => session.reportLoss(resolve))
    const { sessionId, sessionPassword } = session.client
    await expireSession(server, sessionId, sessionPassword)
    expect((await lost).message).to.contain(`session 0x${sessionId.toString(16)} lost its connection`)
    await session.close()
  })

  it('stop opening if the run is aborted, and close the open ones', async () => {
    const { connectString } = await sharedServer()
    const stop = new AbortController()
    let opened = 0
    const made: BenchSession[] = []
    const make = () => {
      const session = new BenchSession(connectString, counter())
      made.push(session)
      return session
    }
    const opening = openSessions(500, make, stop.signal, () => {
      if (++opened === 60) stop.abort(new Error('enough'))
    })
    const error: unknown = await opening.catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'enough')
    expect(opened).to.be.below(500)
    expect(made.map(({ client }) => (client as typeof client | undefined)?.state)).not.to.include('connected')
  })

  it('can be disconnected, and set their watches again', async () => {
    const { connectString } = await sharedServer()
    const session = await new BenchSession(connectString, counter()).open()
    const { client } = session
    await client.getData('/', { watch: () => undefined })
    const rearmed = session.rearmed()
    session.link.cut()
    await rearmed
    await until(() => client.state === 'connected')
    await session.close()
  })

  it('can be isolated until they expire, and replaced', async function () {
    this.timeout(30_000)
    const { connectString } = await sharedServer()
    const session = await new BenchSession(connectString, counter(), 1000).open()
    const { sessionId } = session.client
    const { path } = await session.client.create('/bench-session-', '', { mode: 'ephemeralSequential' })
    session.link.down()
    const other = await new BenchSession(connectString, counter()).open()
    await until(async () => (await other.client.exists(path)) === null)
    const client = await session.replaceSession(never)
    expect(client.sessionId).not.to.equal(sessionId)
    expect(await client.exists(path)).to.equal(null)
    await session.close()
    await other.close()
  })
})
