// Servers such as zetcd, which close the connection in place of an answer to create2: the client sends create instead.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/index.ts'
import { failureOf } from '../support/settled.ts'

describe('on a server that closes the connection after create2,', () => {
  let clock: VirtualClock
  let server: Server
  let zk: Client
  let lost: number

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock })
    lost = 0
    const onConnectionError = () => void lost++
    zk = await clock.until(connect(server.connectString, { dial: server.dial, clock, onConnectionError }))
    for (const operation of ['create2', 'createContainer'] as const)
      server.faults.ignore(operation, { times: Infinity })
  })
  afterEach(() => clock.until(Promise.all([zk.close(), server.close()])))

  it('create says after three lost connections which operation the server seems not to know, and then uses create', async () => {
    const failures = []
    for (let i = 0; i < 3; i++) failures.push(await clock.until(failureOf(zk.create('/a'))))
    for (const failure of failures) expect(failure).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', path: '/a' })
    const messages = failures.map(failure => (failure as Error).message)
    expect(messages.map(message => message.includes('seems not to know'))).to.deep.equal([false, false, true])
    expect(messages[2]).to.contain('after a create2, which came with 3.5')
    expect((await clock.until(zk.create('/a', 'data'))).stat.dataLength).to.equal(4)
    expect(lost).to.equal(3)
  })

  it('ensurePath and a Mutex do not try for ever', async () => {
    await clock.until(zk.ensurePath('/a/b/c'))
    const held = await clock.until(new Mutex(zk, '/locks/a').acquire())
    expect(lost).to.equal(3)
    await clock.until(held.release())
  })

  it('an answer in between shows that the server knows it', async () => {
    server.faults.clear()
    await clock.until(zk.create('/known'))
    server.faults.ignore('create2', { times: Infinity })
    for (let i = 0; i < 5; i++)
      expect(await clock.until(failureOf(zk.create('/a')))).to.include({ code: 'CONNECTIONLOSS' })
    expect(lost).to.equal(5)
  })
})
