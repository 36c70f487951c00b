// Servers such as zetcd, which close the connection in place of an answer to create2: the client sends create instead.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { failureOf } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'

describe('on a server that closes the connection after create2,', () => {
  const virtual = VirtualServer.each()
  let zk: Client
  let lost: number

  beforeEach(async () => {
    lost = 0
    const onConnectionError = () => void lost++
    zk = await virtual.open({ onConnectionError })
    for (const operation of ['create2', 'createContainer'] as const)
      virtual.server.faults.ignore(operation, { times: Infinity })
  })

  it('create says after three lost connections which operation the server seems not to know, and then uses create', async () => {
    const failures = []
    for (let i = 0; i < 3; i++) failures.push(await virtual.until(failureOf(zk.create('/a'))))
    for (const failure of failures) expect(failure).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', path: '/a' })
    const messages = failures.map(failure => (failure as Error).message)
    expect(messages.map(message => message.includes('seems not to know'))).to.deep.equal([false, false, true])
    expect(messages[2]).to.contain('after a create2, which came with 3.5')
    expect((await virtual.until(zk.create('/a', 'data'))).stat.dataLength).to.equal(4)
    expect(lost).to.equal(3)
  })

  it('ensurePath and a Mutex do not try for ever', async () => {
    await virtual.until(zk.ensurePath('/a/b/c'))
    const held = await virtual.until(new Mutex(zk, '/locks/a').acquire())
    expect(lost).to.equal(3)
    await virtual.until(held.release())
  })

  it('an answer in between shows that the server knows it', async () => {
    virtual.server.faults.clear()
    await virtual.until(zk.create('/known'))
    virtual.server.faults.ignore('create2', { times: Infinity })
    for (let i = 0; i < 5; i++)
      expect(await virtual.until(failureOf(zk.create('/a')))).to.include({ code: 'CONNECTIONLOSS' })
    expect(lost).to.equal(5)
  })
})
