// Atomic transactions, and reads of several nodes.
import { expect } from 'chai'
import { MultiError, type Stat } from '../../../src/index.ts'
import { errnos, opcodes, operations } from '../../../src/protocol/index.ts'
import { failureOf } from '../../support/settled.ts'
import { openACL, suite } from '../suite.ts'

const { OK, NONODE, RUNTIMEINCONSISTENCY } = { OK: 0, ...errnos }

export const multi = suite('multi', it => {
  it('returns a result for each operation, and is one transaction', async world => {
    const session = await world.session()
    const [a, b] = [world.at('/a'), world.at('/b')]
    await world.zk.create('/b')
    const { zxid, body } = await session.ask(operations.multi, [
      { type: opcodes.create, body: { path: a, data: 'x', acl: openACL, flags: 0 } },
      { type: opcodes.setData, body: { path: a, data: 'longer', version: 0 } },
      { type: opcodes.check, body: { path: a, version: 1 } },
      { type: opcodes.delete, body: { path: b, version: 0 } },
    ])
    const { stat } = await world.zk.getData('/a')
    const { czxid, ctime } = stat
    expect(stat).to.deep.include({ version: 1, mzxid: czxid, mtime: ctime, pzxid: czxid })
    expect(czxid).to.equal(zxid)
    expect(body).to.deep.equal([
      { type: opcodes.create, body: { path: a } },
      { type: opcodes.setData, body: { stat } },
      { type: opcodes.check, body: {} },
      { type: opcodes.delete, body: {} },
    ])
    expect(await world.zk.exists('/')).to.include({ cversion: 3, pzxid: zxid, numChildren: 1 })
  })

  it('changes nothing if an operation fails, and names the operation', async ({ zk }) => {
    await zk.create('/a', 'x')
    await zk.create('/gone')
    const before = [await zk.exists('/'), await zk.getData('/a'), await zk.getData('/gone')]
    const error = await failureOf(
      zk.multi([
        { setData: '/a', data: 'y' },
        { delete: '/gone' },
        { create: '/b' },
        { delete: '/nothing' },
        { delete: '/a' },
      ]),
    )
    expect(error).to.be.instanceOf(MultiError)
    expect((error as MultiError).results.map(({ errno }) => errno)).to.deep.equal([
      ...[OK, OK, OK, NONODE, RUNTIMEINCONSISTENCY],
    ])
    expect([await zk.exists('/'), await zk.getData('/a'), await zk.getData('/gone')]).to.deep.equal(before)
  })

  it('executes each operation on the result of the previous ones', async ({ zk }) => {
    await zk.multi([
      { create: '/a' },
      { create: '/a/n-', mode: 'persistentSequential' },
      { create: '/a/n-', mode: 'ephemeralSequential' },
      { delete: '/a/n-0000000000' },
      { create: '/a/n-', mode: 'persistentSequential' },
    ])
    expect((await zk.getChildren('/a')).children).to.have.members(['n-0000000001', 'n-0000000002'])
    expect(await zk.exists('/a')).to.include({ cversion: 4, numChildren: 2 })
    expect(await zk.exists('/a/n-0000000001')).to.include({ ephemeralOwner: zk.sessionId })
    const again = await failureOf(
      zk.multi([
        { delete: '/a/n-0000000001' },
        { delete: '/a/n-0000000002' },
        { delete: '/a' },
        { check: '/a', version: -1 },
      ]),
    )
    expect(again).to.include({ code: 'NONODE', path: '/a' })
  })

  it('returns no results for no operations', async world => {
    const session = await world.session()
    expect(await session.request(operations.multi, [])).to.deep.equal([])
    expect(await session.request(operations.multiRead, [])).to.deep.equal([])
  })

  it('can delete and create the same node again', async ({ zk }) => {
    await zk.multi([{ create: '/a' }, { delete: '/a' }, { create: '/a', data: 'again' }])
    expect((await zk.getData('/a')).data?.toString()).to.equal('again')
    expect(await zk.exists('/')).to.include({ cversion: 3, numChildren: 1 })
  })

  it('of reads returns results and errors in order, and sets no watch', async world => {
    const session = await world.session()
    const { zk } = world
    await zk.create('/a', 'x')
    await zk.create('/closed')
    await zk.addAuth('digest', 'ann:secret')
    await zk.setACL('/closed', [{ perms: 31, id: { scheme: 'auth', id: '' } }])
    const [data, none, children, closed] = await session.request(operations.multiRead, [
      { type: opcodes.getData, body: { path: world.at('/a'), watch: true } },
      { type: opcodes.getData, body: { path: world.at('/nothing'), watch: true } },
      { type: opcodes.getChildren, body: { path: world.at('/a'), watch: true } },
      { type: opcodes.getChildren, body: { path: world.at('/closed'), watch: true } },
    ])
    const stat = (await zk.exists('/a')) as Stat
    expect(data).to.deep.equal({ type: opcodes.getData, body: { data: Buffer.from('x'), stat } })
    expect(none).to.deep.equal({ type: opcodes.error, body: { err: NONODE } })
    expect(children).to.deep.equal({ type: opcodes.getChildren, body: { children: [] } })
    expect(closed).to.deep.equal({ type: opcodes.error, body: { err: errnos.NOAUTH } })
    await zk.delete('/a')
    await session.request(operations.ping, {})
    expect(session.events).to.deep.equal([])
  })
})
