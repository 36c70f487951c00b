// Nodes and the counters in their Stats.
import { expect } from 'chai'
import type { CreateMode, Stat } from '../../../src/index.ts'
import { errnos, operations, opcodes } from '../../../src/protocol/index.ts'
import { failureOf } from '../../support/settled.ts'
import { call } from '../../support/wire-session.ts'
import { until } from '../../../environment/until.ts'
import { errOf, openACL, suite, type World } from '../suite.ts'

const statOf = async (zk: World['zk'], path: string) => (await zk.exists(path)) as Stat

export const nodes = suite('nodes:', it => {
  it('a new node has the zxid of its transaction in three fields, and counters of 0', async ({ zk }) => {
    const { path, stat } = await zk.create('/a', 'four')
    expect(path).to.equal('/a')
    const { czxid, ctime } = stat
    expect(stat).to.deep.equal({
      ...{ czxid, mzxid: czxid, pzxid: czxid, ctime, mtime: ctime, dataLength: 4, numChildren: 0 },
      ...{ version: 0, cversion: 0, aversion: 0, ephemeralOwner: 0n },
    })
    expect(await statOf(zk, '/a')).to.deep.equal(stat)
  })

  it('a creation counts as one change of the parent’s children, with the same zxid', async ({ zk }) => {
    const before = await statOf(zk, '/')
    const { stat } = await zk.create('/a')
    const after = { ...before, cversion: before.cversion + 1, numChildren: 1, pzxid: stat.czxid }
    expect(await statOf(zk, '/')).to.deep.equal(after)
  })

  it('a deletion counts as a change of the parent’s children, and sets its pzxid', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    await zk.delete('/a')
    const after = await statOf(zk, '/')
    expect(after).to.include({ cversion: 2, numChildren: 0, version: 0 })
    expect(after.pzxid > stat.czxid).to.equal(true)
  })

  it('setData increments the version, and sets mzxid', async ({ zk }) => {
    const { stat } = await zk.create('/a', 'x')
    const next = await zk.setData('/a', 'longer')
    expect(next).to.deep.equal({ ...stat, version: 1, dataLength: 6, mzxid: next.mzxid, mtime: next.mtime })
    expect(next.mzxid > stat.mzxid).to.equal(true)
    expect(next.mtime).to.be.at.least(stat.mtime)
    expect((await zk.setData('/a', 'longer')).version, 'with the same data again').to.equal(2)
  })

  it('setData changes mtime, and not ctime', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    await until(async () => (await zk.setData('/a', '')).mtime > stat.mtime)
    expect((await statOf(zk, '/a')).ctime).to.equal(stat.ctime)
  })

  it('setACL increments aversion, and changes nothing else', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    expect(await zk.setACL('/a', openACL)).to.deep.equal({ ...stat, aversion: 1 })
    expect((await zk.getACL('/a')).stat).to.deep.equal({ ...stat, aversion: 1 })
  })

  it('changes of a child and its descendants do not change the Stat of the parent', async ({ zk }) => {
    await zk.create('/a')
    await zk.create('/a/b')
    const before = await statOf(zk, '/')
    await zk.setData('/a', 'x')
    await zk.create('/a/c')
    await zk.delete('/a/b')
    expect(await statOf(zk, '/')).to.deep.equal(before)
  })

  it('null and empty data are different', async ({ zk }) => {
    await zk.create('/null', null)
    await zk.create('/empty', '')
    expect(await zk.getData('/null')).to.have.property('data', null)
    expect((await zk.getData('/empty')).data).to.deep.equal(Buffer.alloc(0))
    const stat = await zk.setData('/empty', null)
    expect(stat.dataLength).to.equal(0)
    expect(await zk.getData('/empty')).to.deep.equal({ data: null, stat })
  })

  it('a wrong version is rejected, and -1 matches every version', async ({ zk }) => {
    await zk.create('/a')
    await zk.setData('/a', 'x')
    for (const version of [0, 2, -2]) {
      expect(await failureOf(zk.setData('/a', 'y', { version })), `${version}`).to.include({ code: 'BADVERSION' })
      expect(await failureOf(zk.delete('/a', { version })), `${version}`).to.include({ code: 'BADVERSION' })
    }
    for (const version of [1, -2])
      expect(await failureOf(zk.setACL('/a', openACL, { version })), `${version}`).to.include({ code: 'BADVERSION' })
    await zk.setData('/a', 'y', { version: 1 })
    await zk.setACL('/a', openACL, { version: 0 })
    await zk.delete('/a', { version: 2 })
  })

  it('children are listed with and without a Stat, and descendants are counted', async world => {
    const { zk } = world
    for (const path of ['/a', '/a/b', '/a/b/c', '/ab']) await zk.create(path)
    expect((await zk.getChildren('/')).children).to.have.members(['a', 'ab'])
    const session = await world.session()
    const request = { path: world.at('/'), watch: false }
    expect((await session.request(operations.getChildren, request)).children).to.have.members(['a', 'ab'])
    const { children, stat } = await session.request(operations.getChildren2, request)
    expect(children).to.have.members(['a', 'ab'])
    expect(stat).to.deep.equal(await statOf(zk, '/'))
    expect(await zk.getAllChildrenNumber('/')).to.equal(4)
    expect(await zk.getAllChildrenNumber('/a')).to.equal(2)
    expect(await zk.getAllChildrenNumber('/ab')).to.equal(0)
  })

  it('the server’s own nodes exist, and cannot be deleted', async world => {
    const session = await world.session()
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
      expect((await session.request(operations.exists, { path, watch: false })).stat.czxid, path).to.equal(0n)
      expect(await errOf(session, operations.delete, { path, version: -1 })).to.equal(errnos.BADARGUMENTS)
    }
    const { acl, stat } = await session.request(operations.getACL, { path: '/zookeeper/config' })
    expect(acl).to.deep.equal([{ perms: 1, id: { scheme: 'world', id: 'anyone' } }])
    expect(stat.aversion).to.equal(-1)
  })

  it('the empty path means the root for reads, and is invalid for writes', async world => {
    const session = await world.session()
    const { exists, getACL, getChildren2, getData } = operations
    const reads = ['', '/'].map(path => [
      ...[exists, getData, getChildren2].map(op => call(op as typeof getData, { path, watch: false })),
      call(getACL, { path }),
    ])
    const received = await session.exchange(reads.flat())
    const bodies = received.map(each => ('reply' in each ? each.reply.body : undefined))
    expect(bodies.slice(0, 4)).to.deep.equal(bodies.slice(4))
    expect(bodies).not.to.include(undefined)
    const request = { path: '', data: '', acl: openACL, flags: 0, version: -1 }
    for (const write of [operations.create2, operations.delete, operations.setData, operations.setACL])
      expect(await errOf(session, write as typeof operations.create2, request), write.name).to.equal(
        errnos.BADARGUMENTS,
      )
  })

  it('each write takes a zxid, even a rejected one', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const zxids = [
      await session.requestReply(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      await session.requestReply(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      await session.requestReply(operations.setData, { path, data: '', version: 5 }),
      await session.requestReply(operations.delete, { path, version: -1 }),
    ].map(({ zxid }) => zxid)
    expect(new Set(zxids)).to.have.property('size', 4)
    expect(zxids).to.deep.equal([...zxids].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('the data of a node may fill the longest request, and not a byte more', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const bytes = (length: number) => ({ path, data: Buffer.alloc(length), version: -1 })
    await world.zk.create('/a')
    // The rest of the request is its header, the path, the version, and two lengths.
    const longest = 0xf_ffff - 8 - 4 - path.length - 4 - 4
    await session.request(operations.setData, bytes(longest))
    expect((await session.request(operations.getData, { path, watch: false })).data).to.have.length(longest)
    const failure = await failureOf(session.request(operations.setData, bytes(longest + 1)))
    expect(String(failure)).to.match(/closed|EPIPE|ECONNRESET/)
  })

  it('sync returns its path, even if the node does not exist', async world => {
    const session = await world.session()
    for (const path of ['/', world.at('/nothing'), ''])
      expect(await session.request(operations.sync, { path })).to.deep.equal({ path })
  })

  it('reconfig is disabled, and an unknown operation closes the connection', async world => {
    const session = await world.session()
    expect(await errOf(session, operations.reconfig, reconfiguration)).to.equal(errnos.RECONFIGDISABLED)
    const unknown = { ...operations.ping, name: 'unknown', opcode: 4711 }
    expect(await errOf(session, unknown, {})).to.equal(errnos.UNIMPLEMENTED)
    await session.whenClosed()
  })
})

const reconfiguration = { joiningServers: null, leavingServers: null, newMembers: null, curConfigId: -1n }

export const modes = suite('create modes:', it => {
  const all: readonly CreateMode[] = [
    ...(['persistent', 'persistentSequential', 'ephemeral', 'ephemeralSequential', 'container'] as const),
    ...(['persistentTTL', 'persistentSequentialTTL'] as const),
  ]
  for (const mode of all)
    it(mode, async ({ zk }) => {
      const { path, stat } = await zk.create('/x', 'x', { mode, ...(mode.endsWith('TTL') && { ttl: 100_000 }) })
      expect(path).to.equal(mode.includes('Sequential') ? '/x0000000000' : '/x')
      expect(stat).to.include({
        ephemeralOwner: mode.startsWith('ephemeral') ? zk.sessionId : 0n,
        ...{ version: 0, dataLength: 1 },
      })
      expect((await zk.getData(path)).data?.toString()).to.equal('x')
    })

  it('each parent numbers sequential nodes by all children that it ever had', async ({ zk }) => {
    const createSequential = async (path: string) =>
      (await zk.create(path, '', { mode: 'persistentSequential' })).path.slice(path.length)
    for (const path of ['/a', '/b', '/a/x']) await zk.create(path)
    expect(await createSequential('/a/n-')).to.equal('0000000001')
    await zk.delete('/a/n-0000000001')
    await zk.delete('/a/x')
    expect(await createSequential('/a/other-')).to.equal('0000000002')
    expect(await createSequential('/b/')).to.equal('0000000000')
    expect(await createSequential('/')).to.equal('0000000002')
  })

  it('a rejected create takes no sequence number', async ({ zk }) => {
    await zk.create('/a')
    await failureOf(zk.create('/a'))
    await failureOf(
      zk.multi([
        { create: '/n-', mode: 'persistentSequential' },
        { check: '/nothing', version: 0 },
      ]),
    )
    expect((await zk.create('/n-', '', { mode: 'persistentSequential' })).path).to.equal('/n-0000000001')
  })

  it('an ephemeral node can have no children, and is deleted with its session', async world => {
    const other = await world.client()
    await other.create('/e', '', { mode: 'ephemeral' })
    expect(await failureOf(world.zk.create('/e/child'))).to.include({ code: 'NOCHILDRENFOREPHEMERALS' })
    await other.create('/f', '', { mode: 'ephemeral' })
    await other.close()
    const stat = await statOf(world.zk, '/')
    expect(stat).to.include({ numChildren: 0, cversion: 4 })
    // The transaction that closed the session deleted both.
    expect((await world.zk.create('/next')).stat.czxid > stat.pzxid).to.equal(true)
  })

  it('getEphemerals lists the session’s own ephemeral nodes with a prefix', async world => {
    const { zk } = world
    const other = await world.client()
    await other.create('/theirs', '', { mode: 'ephemeral' })
    await zk.create('/a')
    for (const path of ['/a/1', '/a/2', '/ab']) await zk.create(path, '', { mode: 'ephemeral' })
    const session = await world.session()
    expect((await session.request(operations.getEphemerals, { prefixPath: '/' })).ephemerals).to.deep.equal([])
    expect(await zk.getEphemerals()).to.have.members(['/a/1', '/a/2', '/ab'])
    expect(await zk.getEphemerals('/a')).to.have.members(['/a/1', '/a/2', '/ab'])
    expect(await zk.getEphemerals('/a/1')).to.deep.equal(['/a/1'])
    expect(await zk.getEphemerals('/nothing')).to.deep.equal([])
  })

  it('a ttl is from 1 to 2^40 - 1 milliseconds, and requires a mode with ttl', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const ttls: [ttl: number, err: number][] = [
      [0, errnos.BADARGUMENTS],
      [-1, errnos.BADARGUMENTS],
      [2 ** 40, errnos.BADARGUMENTS],
      [2 ** 40 - 1, 0],
    ]
    for (const [ttl, err] of ttls)
      expect(await errOf(session, operations.createTTL, { path, data: '', acl: openACL, flags: 5, ttl })).to.equal(err)
    for (const flags of [5, 6, 7, -1])
      expect(await errOf(session, operations.create2, { path, data: '', acl: openACL, flags })).to.equal(
        errnos.BADARGUMENTS,
      )
  })

  it('in a multi the flags decide the kind of the created node, and a plain create with the flags of a ttl is malformed', async world => {
    const session = await world.session()
    const item = (flags: number) => ({
      type: opcodes.create2,
      body: { path: world.at('/a'), data: '', acl: openACL, flags },
    })
    expect(await errOf(session, operations.multi, [item(5)])).to.equal(errnos.MARSHALLINGERROR)
    const [outcome] = await session.request(operations.multi, [item(4)])
    expect(outcome?.type, 'the result of a container has a Stat').to.equal(opcodes.create2)
  })
})
