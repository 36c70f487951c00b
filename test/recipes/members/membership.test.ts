import { expect } from 'chai'
import { creatorAllACL, openACL, supervise, ZooKeeperError, type Client } from '../../../src/index.ts'
import { Membership, type MembershipChange } from '../../../src/recipes/index.ts'
import { abortOf, failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const observerOf = (path: string) => new Membership(path, { observer: true })
const idsOf = (members: readonly { id: string }[]) => members.map(({ id }) => id)

/** Describes a change in one line: `+a` joined, `-b` left, `*c=d` has the new data d. */
const lineOf = ({ joined, left, updated }: MembershipChange): string =>
  [
    ...left.map(({ id }) => `-${id}`),
    ...joined.map(({ id, data }) => `+${id}=${data?.toString()}`),
    ...updated.map(({ id, data }) => `*${id}=${data?.toString()}`),
  ].join(' ')

onBothServers('Membership', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/group`
  })

  const createOthers = async () => {
    for (const id of ['b', 'c']) await fixture.observer.create(`${path}/${id}`, id, { parents: true })
  }

  itEverywhere('lists the members with their data, in the order in which they joined', async () => {
    const [one, two] = await fixture.openMany(2)
    await using a = new Membership(path, { id: 'a', data: 'host-a' })
    await using b = new Membership(path, { id: 'b', data: Buffer.from('host-b') })
    await b.start(one as Client)
    await a.start(two as Client)
    expect(a.members.map(({ id, data, session }) => [id, data?.toString(), session])).to.deep.equal([
      ['b', 'host-b', one?.sessionId],
      ['a', 'host-a', two?.sessionId],
    ])
    await fixture.until(() => b.members.length === 2)
    await a.close()
    await fixture.until(() => b.members.length === 1)
    await using again = new Membership(path, { id: 'a' })
    await again.start(two as Client)
    await fixture.until(() => b.members.length === 2)
  })

  itEverywhere('tells every join, leave and change of data, to its loops and its listeners', async () => {
    const [one, two] = await fixture.openMany(2)
    const told: string[] = []
    const called: string[] = []
    await using watcher = observerOf(path).on('change', change => called.push(lineOf(change)))
    await watcher.start(one as Client)
    const reading = (async () => {
      for await (const change of watcher.changes()) told.push(lineOf(change))
    })()
    const a = new Membership(path, { id: 'a', data: '1' })
    await a.start(two as Client)
    await fixture.until(() => told.length === 2)
    await a.setData('2')
    await fixture.until(() => told.length === 3)
    await fixture.observer.delete(`${path}/a`)
    await fixture.until(() => watcher.members.length === 1 && told.length > 3)
    await a.close()
    await fixture.until(() => watcher.members.length === 0)
    await watcher.close()
    await reading
    expect(called.slice(0, 2)).to.deep.equal(['+a=1', '*a=2'])
    expect(told.slice(0, 3)).to.deep.equal(['', '+a=1', '*a=2'])
    // The deletion and the return may be told as one change or as two.
    expect(told.slice(3, -1).join(' ')).to.equal('-a +a=2')
    expect(told.at(-1)).to.equal('-a')
    expect(called.join(' ')).to.equal('+a=1 *a=2 -a +a=2 -a')
  })

  itEverywhere('goes on in the next session of supervise(), and tells the others', async () => {
    const told: string[] = []
    await using other = observerOf(path).on('change', change => told.push(lineOf(change)))
    await other.start(fixture.observer)
    const group = new Membership(path, { id: 'a', data: 'x' })
    const sessions: bigint[] = []
    const own: string[] = []
    let reading: Promise<void> | undefined
    await supervise(fixture.server.connectString, fixture.server.options, async (zk, signal) => {
      await group.start(zk)
      reading ??= (async () => {
        for await (const change of group.changes()) own.push(lineOf(change))
      })()
      sessions.push(zk.sessionId)
      expect(group.members.map(({ session }) => session)).to.deep.equal([zk.sessionId])
      // A node that is gone before the other has read it is no change.
      await fixture.until(() => told.join(' ').split('+a').length === sessions.length + 1)
      if (sessions.length === 3) return group.close()
      await fixture.expire(zk)
      await abortOf(signal)
    })
    await reading
    await fixture.until(() => told.join(' ').split('-a').length === 4)
    expect(new Set(sessions).size).to.equal(3)
    expect(own.join(' ')).to.equal('+a=x -a +a=x -a +a=x')
    expect(told.join(' ')).to.equal('+a=x -a +a=x -a +a=x -a')
  })

  itEverywhere('tells what changed while it had no connection, once', async () => {
    const { faultyDial, client } = await fixture.openWithFaults()
    const told: string[] = []
    await using group = observerOf(path).on('change', change => told.push(lineOf(change)))
    await fixture.observer.ensurePath(path)
    for (const id of ['a', 'b', 'c']) await fixture.observer.create(`${path}/${id}`, '1', { mode: 'ephemeral' })
    await group.start(client)
    faultyDial.refuse()
    await fixture.observer.delete(`${path}/a`)
    await fixture.observer.setData(`${path}/b`, '2')
    await fixture.observer.create(`${path}/d`, '1', { mode: 'ephemeral' })
    faultyDial.accept()
    await fixture.until(() => told.join(' ').includes('d'))
    expect(told).to.deep.equal(['+a=1 +b=1 +c=1', '-a +d=1 *b=2'])
    for (const id of ['b', 'c', 'd']) await fixture.observer.delete(`${path}/${id}`)
  })

  itInVirtualTime('follows a group that is deleted as a whole and created again', async () => {
    const [one, two] = await fixture.openMany(2)
    await using watcher = observerOf(path)
    await watcher.start(one as Client)
    await using a = new Membership(path, { id: 'a' })
    await a.start(two as Client)
    await fixture.observer.deleteRecursive(path).catch(() => undefined)
    await fixture.until(() => watcher.members.length === 1)
    await a.close()
    await fixture.observer.delete(path)
    await using again = new Membership(path, { id: 'a' })
    await again.start(two as Client)
    await fixture.until(() => watcher.members.length === 1)
  })

  itInVirtualTime('uses watches of the list and of each member on servers before 3.6', async () => {
    const [one, two] = await fixture.openMany(2)
    // A server that does not know addWatch answers UNIMPLEMENTED.
    for (let i = 0; i < 10; i++) fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', {})
    const told: string[] = []
    await using watcher = observerOf(path).on('change', change => told.push(lineOf(change)))
    await watcher.start(one as Client)
    const a = new Membership(path, { id: 'a', data: '1' })
    await a.start(two as Client)
    await fixture.until(() => told.length === 1)
    await a.setData('2')
    await fixture.until(() => told.length === 2)
    await a.setData('3')
    await fixture.until(() => told.length === 3)
    await a.close()
    await fixture.until(() => told.length === 4)
    expect(told).to.deep.equal(['+a=1', '*a=2', '*a=3', '-a'])
  })

  itEverywhere('names its nodes as kazoo’s Party and ShallowParty do', async () => {
    const [one, two] = await fixture.openMany(2)
    await using party = new Membership(path, { id: 'host/1', dialect: 'party' })
    await party.start(one as Client)
    const [child] = await fixture.childPaths('/group')
    expect(child?.slice(path.length)).to.match(/^\/[0-9a-f]{32}__party__$/)
    expect((await fixture.observer.getData(child ?? '')).data?.toString()).to.equal('host/1')
    expect(idsOf(party.members)).to.deep.equal(['host/1'])
    await fixture.observer.create(`${path}/stranger`)
    await fixture.until(() => idsOf(party.members).join() === 'host/1')
    await party.close()
    await fixture.observer.deleteRecursive(path)
    await using shallow = new Membership(path, { id: 'host-1', dialect: 'shallowParty' })
    await shallow.start(two as Client)
    expect((await fixture.childPaths('/group'))[0]?.slice(path.length)).to.match(/^\/[0-9a-f]{32}-host-1$/)
    expect(idsOf(shallow.members)).to.deep.equal(['host-1'])
  })

  itEverywhere('follows in a new session only, also if the one before is still alive', async () => {
    const [one, two] = await fixture.openMany(2)
    await using group = observerOf(path)
    await group.start(one as Client)
    const watches = await fixture.watchCount()
    await createOthers()
    await fixture.until(() => group.members.length === 2)
    await group.start(two as Client)
    expect(idsOf(group.members)).to.deep.equal(['b', 'c'])
    await fixture.until(async () => (await fixture.watchCount()) === watches)
    await fixture.observer.delete(`${path}/b`)
    await fixture.until(() => idsOf(group.members).join() === 'c')
  })

  itInVirtualTime(
    'follows the group below another root if the client of the next session has another one',
    async () => {
      const client = await fixture.open()
      for (const root of ['one', 'two'])
        await fixture.observer.create(`${fixture.path}/${root}/group/${root}`, root, { parents: true })
      const told: string[] = []
      await using group = observerOf('/group').on('change', change => told.push(lineOf(change)))
      for (const root of ['one', 'two']) await group.start(client.chroot(`${fixture.path}/${root}`))
      await fixture.until(() => told.length === 2)
      expect(told).to.deep.equal(['+one=one', '-one +two=two'])
      await group.close()
      await client.settled()
    },
  )

  itEverywhere('rejects with NOAUTH if it may not read the group', async () => {
    await fixture.observer.addAuth('digest', 'bob:secret')
    await fixture.observer.create(path, '', { acl: creatorAllACL })
    const group = observerOf(path)
    expect(await failureOf(group.start(await fixture.open()))).to.have.property('code', 'NOAUTH')
    await group.close()
  })

  itEverywhere('keeps the members while it may not read the group, reports it once, and then goes on', async () => {
    const thrown: unknown[] = []
    const onUncaughtError = (error: unknown) => thrown.push((error as ZooKeeperError).code)
    const { faultyDial, client } = await fixture.openWithFaults({ onUncaughtError })
    await createOthers()
    await using group = observerOf(path)
    await group.start(client)
    const told: string[] = []
    const reading = (async () => {
      for await (const change of group.changes()) told.push(lineOf(change))
    })()
    await fixture.observer.addAuth('digest', 'bob:secret')
    await fixture.observer.setACL(path, creatorAllACL)
    faultyDial.refuse()
    faultyDial.accept()
    await fixture.until(() => thrown.length === 1)
    await fixture.observer.delete(`${path}/b`)
    expect(idsOf(group.members)).to.deep.equal(['b', 'c'])
    await fixture.observer.setACL(path, openACL)
    await fixture.until(() => told.length === 2)
    expect([told, thrown]).to.deep.equal([['+b=b +c=c', '-b'], ['NOAUTH']])
    await group.close()
    await reading
  })

  itInVirtualTime('refuses wrong arguments', async () => {
    const refused = (make: () => unknown, detail: RegExp) =>
      expect(make).to.throw(ZooKeeperError, detail).with.property('code', 'BADARGUMENTS')
    refused(() => new Membership('/g', { id: 'a/b' }), /without '\/'/)
    refused(() => new Membership('/g', { id: '' }), /without '\/'/)
    refused(() => new Membership('/g', { id: '..' }), /\.\./)
    refused(() => new Membership('/g', { dialect: 'party', data: 'x' }), /has no data but its id/)
    expect(await failureOf(new Membership('/g', { dialect: 'party' }).setData('x'))).to.be.instanceOf(ZooKeeperError)
  })
})
