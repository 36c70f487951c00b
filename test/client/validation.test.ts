// Regression tests for arguments, paths and watches.
import { expect } from 'chai'
import { aclOf, connect, openACL, perms, readOnlyACL, ZooKeeperError, type Client } from '../../src/index.ts'
import { errnos } from '../../src/protocol/index.ts'
import { Server } from '../../src/server/index.ts'
import { onBothServers } from '../recipes/fixture.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { statOf } from '../support/scripted-server.ts'
import { scriptedSession } from '../support/scripted-session.ts'
import { failureOf } from '../support/settled.ts'

onBothServers('regression tests of the client', (fixture, { itInVirtualTime }) => {
  let zk: Client
  beforeEach(async () => {
    zk = await fixture.open()
    await zk.create('/refusals')
  })

  itInVirtualTime('a sequential node at the root of a chroot is created below the chroot', async () => {
    const view = zk.chroot('/refusals')
    expect((await view.create('/', '', { mode: 'persistentSequential' })).path).to.equal('/0000000000')
    const [created] = await view.multi([{ create: '/', mode: 'persistentSequential' }])
    expect(created).to.have.property('path', '/0000000001')
    expect((await view.getChildren('/')).children).to.have.members(['0000000000', '0000000001'])
  })

  itInVirtualTime('a check without a version matches any version', async () => {
    await zk.setData('/refusals', 'x')
    expect(await zk.multi([{ check: '/refusals' }])).to.deep.equal([undefined])
    expect(await failureOf(zk.multi([{ check: '/refusals', version: 0 }]))).to.have.property('code', 'BADVERSION')
  })

  itInVirtualTime(
    'calls with data or a version of a wrong type return a rejected promise instead of throwing',
    async () => {
      for (const call of [
        zk.setData('/refusals', undefined as never),
        zk.multi([{ setData: '/refusals', data: undefined as never }]),
        zk.multi([null as never]),
        zk.multi(new Array(1)),
        zk.multi([{ check: '/refusals', version: 7, setData: '/refusals', data: 'x' }]),
        zk.create('/refusals/a', '', { acl: [null as never] }),
        zk.setACL('/refusals', [null as never]),
        zk.multi(5 as never),
        zk.multiRead(['/refusals' as never]),
        zk.multiRead(undefined as never),
        zk.reconfig({ version: 5 as never }),
        zk.reconfig({ joining: 5 as never }),
        zk.reconfig({ members: [{}] as never }),
      ])
        expect(await failureOf(call)).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
    },
  )

  itInVirtualTime('values instead of options are rejected, not ignored', async () => {
    const callback = () => undefined
    for (const call of [
      zk.create('/refusals/a', '', 'ephemeral' as never),
      zk.delete('/refusals', 7 as never),
      zk.setData('/refusals', '', 7 as never),
      zk.setACL('/refusals', openACL, 7 as never),
      zk.exists('/refusals', callback as never),
      zk.getData('/refusals', callback as never),
      zk.getData('/refusals', null as never),
      zk.getData('/refusals', { watch: true as never }),
      zk.getData('/refusals', { signal: new AbortController() as never }),
      zk.getChildren('/refusals', true as never),
      zk.getConfig(callback as never),
      zk.addWatch('/refusals', 'recursive' as never),
      zk.ensurePath('/refusals/a', 'container' as never),
      zk.ensurePath('/refusals/a/b', { mode: 'persistentSequential' as never }),
      zk.reconfig(null as never),
      zk.removeWatches('/refusals', 'child' as never),
      zk.checkWatches('/refusals', 'persistent' as never),
    ])
      expect(await failureOf(call)).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
    for (const call of [
      () => zk.transaction().delete('/refusals', 7 as never),
      () => zk.transaction().setData('/refusals', '', 7 as never),
      () => zk.transaction().create('/refusals/a', '', 'ephemeral' as never),
    ])
      expect(call).to.throw(ZooKeeperError, 'BADARGUMENTS')
    expect((await zk.getChildren('/refusals')).children).to.deep.equal([])
  })

  itInVirtualTime('the version of a check in a transaction may be a number instead of options', async () => {
    const { version } = await zk.setData('/refusals', 'x')
    await zk.transaction().check('/refusals', version).check('/refusals', { version }).check('/refusals').commit()
    for (const wrong of [version + 1, { version: version + 1 }])
      expect(await failureOf(zk.transaction().check('/refusals', wrong).commit())).to.have.property(
        'code',
        'BADVERSION',
      )
  })

  itInVirtualTime(
    'a transaction accepts options from class instances too, and rejects unknown properties',
    async () => {
      const { version } = await zk.setData('/refusals', 'x')
      class Expected {
        get version() {
          return version + 1
        }
      }
      for (const transaction of [
        zk.transaction().setData('/refusals', 'y', new Expected()),
        zk.transaction().delete('/refusals', new Expected()),
        zk.transaction().check('/refusals', new Expected()),
      ])
        expect(await failureOf(transaction.commit())).to.have.property('code', 'BADVERSION')
      for (const more of [{ data: 'other' }, { create: '/refusals/other' }, { signal: new AbortController().signal }]) {
        const named = `there is no option '${Object.keys(more).join()}'`
        expect(() => zk.transaction().create('/refusals/a', 'mine', more as never)).to.throw(ZooKeeperError, named)
        expect(() => zk.transaction().setData('/refusals', 'mine', more as never)).to.throw(ZooKeeperError, named)
      }
    },
  )

  itInVirtualTime('a directory with more children than maxPending can be deleted', async () => {
    const narrow = await fixture.open({ maxPending: 150 })
    for (let i = 0; i < 200; i += 100)
      await Promise.all(Array.from({ length: 100 }, (_, n) => narrow.create(`/refusals/${i + n}`)))
    await narrow.deleteRecursive('/refusals')
    await narrow.create('/refusals')
    await narrow.close()
  })

  itInVirtualTime('deleteRecursive() of a branch with a protected part deletes the rest, then rejects', async () => {
    await Promise.all([zk.ensurePath('/refusals/shut/in'), zk.ensurePath('/refusals/a/b/c/d/e')])
    await zk.setACL('/refusals/shut', [aclOf('world', 'anyone', perms.read | perms.admin)])
    expect(await failureOf(zk.deleteRecursive('/refusals'))).to.include({ code: 'NOAUTH', path: '/refusals/shut/in' })
    expect((await zk.getChildren('/refusals')).children).to.deep.equal(['shut'])
    await zk.setACL('/refusals/shut', openACL)
  })

  itInVirtualTime(
    'deleteRecursive() rejects after a hundred rounds if other clients keep creating children',
    async () => {
      await zk.ensurePath('/refusals/a/b')
      const { faults } = fixture.embedded
      faults.replace('delete', 'NOTEMPTY', { times: 1000 })
      expect(await failureOf(zk.deleteRecursive('/refusals'))).to.include({ code: 'NOTEMPTY', path: '/refusals/a/b' })
      faults.clear()
    },
  )

  itInVirtualTime('a plain watch misses no event while a recursive one is added', async () => {
    const other = await fixture.open()
    const plain = await zk.addWatch('/refusals', { capacity: 2000 })
    const changes = (async () => {
      for (let i = 0; i < 200; i++) await other.create('/refusals/n-', '', { mode: 'persistentSequential' })
    })()
    for (let i = 0; i < 20; i++) {
      const recursive = await zk.addWatch('/refusals', { recursive: true })
      await recursive.close()
    }
    await changes
    await other.setData('/refusals', 'mark')
    let count = 0
    for await (const { type } of plain) {
      if (type === 'NodeDataChanged') break
      if (type === 'NodeChildrenChanged') count++
    }
    expect(count).to.equal(200)
    await other.close()
  })
})

describe('ensurePath below a node without the permission to create', () => {
  it('resolves if the path exists, also if the server hides unreadable nodes, and rejects otherwise', async () => {
    const server = await Server.start({ listen: false })
    const client = await connect(server.connectString, { dial: server.dial })
    await client.ensurePath('/closed/box')
    await client.setACL('/closed', readOnlyACL)
    await client.ensurePath('/closed/box')
    // Servers from 3.8.4 and 3.9.2 on answer so for existing nodes (ZOOKEEPER-2590).
    server.faults.replace('exists', 'NOAUTH')
    await client.ensurePath('/closed/box')
    expect(await failureOf(client.ensurePath('/closed/other'))).to.include({ code: 'NOAUTH', op: 'create' })
    await client.close()
    await server.close()
  })
})

describe('a version', () => {
  it('must be a 32-bit integer, because another one would be sent otherwise, also from the getter of a class', async () => {
    const { client, connection } = await scriptedSession()
    const refused: Promise<unknown>[] = []
    for (const version of [1.5, 2 ** 31, -(2 ** 31) - 1, NaN, '1', null]) {
      class Expected {
        get version() {
          return version as number
        }
      }
      for (const options of [{ version }, new Expected()] as never[])
        refused.push(failureOf(client.setData('/a', '', options)), failureOf(client.delete('/a', options)))
    }
    await settle()
    expect(connection.requests).to.deep.equal([])
    for (const error of await Promise.all(refused)) expect(error).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
  })
})

describe('a one-shot watch that shared a persistent one', () => {
  it('gets a resync if the persistent one is rejected before the reply that sets it', async () => {
    const { client, connection } = await scriptedSession()
    const refused = failureOf(client.addWatch('/a'))
    const events: string[] = []
    const reading = client.exists('/a', { watch: ({ type }) => events.push(type) })
    await settle()
    const [addWatch, exists] = connection.requests
    if (addWatch === undefined || exists === undefined) throw new Error('expected two requests')
    connection.reply(addWatch, { err: errnos.UNIMPLEMENTED })
    expect(await refused).to.have.property('code', 'UNIMPLEMENTED')
    connection.reply(exists, { body: { stat: statOf() } })
    await reading
    await settle()
    expect(events).to.deep.equal(['resync'])
  })
})

onBothServers('an onFrame callback that cancels connect()', (fixture, { itInVirtualTime }) => {
  itInVirtualTime('makes connect() reject with the reason of the signal', async () => {
    const abort = new AbortController()
    const reason = new Error('cancelled by onFrame')
    const call = fixture.open({
      signal: abort.signal,
      onFrame: ({ from }) => {
        if (from === 'server') abort.abort(reason)
      },
    })
    expect(await failureOf(call)).to.equal(reason)
  })
})
