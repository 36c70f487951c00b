import { expect } from 'chai'
import { aclOf, connect, perms } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'

describe('contenders()', () => {
  it('leaves out a contender that leaves the queue between the list and the read of its node', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    await using held = await new Mutex(client, '/lock').acquire()
    await client.create('/lock/lock-', '', { mode: 'ephemeralSequential' })
    // The newest child comes first in the server's lists.
    server.faults.replace('getData', 'NONODE')
    expect((await new Mutex(client, '/lock').contenders()).map(({ path }) => path)).to.deep.equal([held.path])
  })

  it('rejects with NOAUTH if the session may not list the directory', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    await client.create('/lock', '', { acl: [aclOf('world', 'anyone', perms.all & ~perms.read)] })
    expect(await failureOf(new Mutex(client, '/lock').contenders())).to.have.property('code', 'NOAUTH')
  })
})
