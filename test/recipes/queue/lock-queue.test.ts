import { expect } from 'chai'
import { aclOf, connect, perms } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'

describe('contenders()', () => {
  it('leaves out a contender that leaves the queue between the list and the read of its node', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    await using _ = await new Mutex(client, '/lock').acquire()
    await client.create('/lock/lock-', '', { mode: 'ephemeralSequential' })
    // They are read in the order of the list, which depends on their names.
    const { children } = await client.getChildren('/lock')
    server.faults.replace('getData', 'NONODE')
    const contenders = await new Mutex(client, '/lock').contenders()
    expect(contenders.map(({ path }) => path)).to.deep.equal([`/lock/${children[1]}`])
  })

  it('rejects with NOAUTH if the session may not list the directory', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    await client.create('/lock', '', { acl: [aclOf('world', 'anyone', perms.all & ~perms.read)] })
    expect(await failureOf(new Mutex(client, '/lock').contenders())).to.have.property('code', 'NOAUTH')
  })
})
