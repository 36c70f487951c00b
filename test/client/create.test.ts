// create() with a scripted server. test/client/real-server.test.ts has what real servers do.
import { expect } from 'chai'
import { aclOf } from '../../src/client/acl.ts'
import type { Client } from '../../src/client/index.ts'
import { errnos, operations, perms, type ACL } from '../../src/protocol/index.ts'
import { failureOf } from '../support/settled.ts'
import { reconnect, scriptedSession } from '../support/scripted-session.ts'

describe('create with parents', () => {
  it('is not sent again if its reply was lost, because the server may have created the node', async () => {
    const all = await scriptedSession()
    const failure = failureOf(all.client.create('/a/b', '', { parents: true }))
    await all.connection.next()
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received).to.deep.equal([])
    expect(await failure).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', op: 'create', path: '/a/b' })
  })

  const calls = {
    create: (client: Client, acl: ACL[]) => client.create('/a/b', '', { parents: true, acl }),
    ensurePath: (client: Client, acl: ACL[]) => client.ensurePath('/a/b', { acl }),
  }
  for (const [name, call] of Object.entries(calls))
    it(`gives the node the ACL as it was at the call (${name})`, async () => {
      const { client, connection } = await scriptedSession()
      const acl = [aclOf('world', 'anyone', perms.read)]
      call(client, acl).catch(() => undefined)
      Object.assign(acl[0] as ACL, { perms: perms.all })
      for (const err of [errnos.NONODE, errnos.NODEEXISTS]) connection.reply(await connection.next(), { err })
      const { body } = await connection.next()
      expect(body).to.deep.include({ path: '/a/b', acl: [aclOf('world', 'anyone', perms.read)] })
    })

  it('creates the parents after NONODE, then the node', async () => {
    const { client, connection } = await scriptedSession()
    const failure = failureOf(client.create('/a/b', '', { parents: true }))
    for (const err of [errnos.NONODE, errnos.NODEEXISTS, errnos.NOAUTH]) {
      const request = await connection.next()
      expect(request.op).to.equal(operations.create2)
      connection.reply(request, { err })
    }
    expect(await failure).to.include({ code: 'NOAUTH', fate: 'refused', path: '/a/b' })
    const paths = connection.requests.map(({ body }) => (body as { path: string }).path)
    expect(paths).to.deep.equal(['/a/b', '/a', '/a/b'])
  })
})
