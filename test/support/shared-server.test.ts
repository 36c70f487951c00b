import { expect } from 'chai'
import { createModes, operations, perms } from '../../src/protocol/index.ts'
import { WireSession } from './wire-session.ts'
import { expireSession, sharedServer } from './shared-server.ts'

describe('the shared server', () => {
  it('is the same for all callers', async () => {
    const [one, other] = await Promise.all([sharedServer(), sharedServer()])
    expect(one).to.equal(other)
    expect(await one.command('srvr')).to.contain('Mode: standalone')
  })

  it('closes the connection of a session that expireSession() ends, removes its ephemeral nodes, and prevents a reattach', async () => {
    const server = await sharedServer()
    const victim = await WireSession.open(server)
    const observer = await WireSession.open(server)
    const path = `/ephemeral-${victim.sessionId}`
    const acl = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]
    await victim.request(operations.create, { path, data: '', acl, flags: createModes.ephemeral })
    const { sessionId, password } = victim

    await expireSession(server, sessionId, password)

    expect(await codeOf(observer.request(operations.exists, { path, watch: false }))).to.equal('NONODE')
    expect(await codeOf(victim.request(operations.exists, { path, watch: false }))).to.match(/closed|ECONNRESET|EPIPE/)
    expect(await codeOf(WireSession.open(server, { sessionId, password }))).to.equal('SESSIONEXPIRED')
    expect(await codeOf(expireSession(server, sessionId, password))).to.equal('SESSIONEXPIRED')
    observer.drop()
    victim.drop()
  })
})

/** Returns the code of the error with which a promise rejects, or its message if it has no code. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'no error'
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code ?? message
  }
}
