// Access control lists and authentication.
import { expect } from 'chai'
import { aclOf, creatorAllACL, digest, perms, ZooKeeperError, type Client } from '../../../src/index.ts'
import { errnos, operations, record, type Codec } from '../../../src/protocol/index.ts'
import { failureOf } from '../../support/settled.ts'
import { errOf, openACL, suite } from '../suite.ts'

const ann = digest('ann', 'secret')
const bob = digest('bob', 'other')

const kazooACL = record('ACL', f => ({
  perms: f.int(),
  id: f.record(record('Id', f => ({ scheme: f.string(), id: f.stringOrNull() }))),
}))
const javaACL = record('ACL', f => ({
  perms: f.int(),
  id: f.record(record('Id', f => ({ scheme: f.stringOrNull(), id: f.stringOrNull() }))),
}))
const createWith = <T>(acl: Codec<T>) => ({
  ...operations.create,
  request: record('CreateRequest', f => ({
    path: f.string(),
    data: f.buffer(),
    acl: f.vector(acl),
    flags: f.int(),
  })),
})
const kazooCreate = createWith(kazooACL)
const setACLWithNull = {
  ...operations.setACL,
  request: record('SetACLRequest', f => ({ path: f.string(), acl: f.vector(javaACL), version: f.int() })),
}

export const acl = suite('access control:', it => {
  it('each permission allows only its own operations', async world => {
    const { zk } = world
    const guest = await world.client()
    await zk.addAuth('digest', 'ann:secret')
    const calls: Record<string, (path: string) => Promise<unknown>> = {
      getData: path => guest.getData(path),
      getChildren: path => guest.getChildren(path),
      getACL: path => guest.getACL(path),
      setData: path => guest.setData(path, ''),
      create: path => guest.create(`${path}/new`),
      delete: path => guest.delete(`${path}/child`),
      setACL: path => guest.setACL(path, openACL),
      check: path => guest.multi([{ check: path, version: -1 }]),
    }
    const allowed: Record<string, string[]> = {}
    for (const [name, permission] of Object.entries(perms).filter(([each]) => each !== 'all')) {
      allowed[name] = []
      for (const [operation, run] of Object.entries(calls)) {
        const path = `/${name}-${operation}`
        await zk.multi([{ create: path }, { create: `${path}/child` }])
        await zk.setACL(path, [aclOf('digest', ann), aclOf('world', 'anyone', permission)])
        const outcome = await run(path).catch((error: unknown) => error)
        if (!(outcome instanceof ZooKeeperError)) allowed[name].push(operation)
        else expect(outcome.code).to.equal('NOAUTH')
      }
    }
    expect(allowed).to.deep.equal({
      read: ['getData', 'getChildren', 'getACL', 'check'],
      write: ['setData'],
      create: ['create'],
      delete: ['delete'],
      admin: ['getACL', 'setACL'],
    })
  })

  it('one matching identity and entry is enough', async world => {
    const { zk } = world
    await zk.create('/a', '', { acl: [aclOf('digest', ann, perms.read), aclOf('digest', bob, perms.write)] })
    expect(await failureOf(zk.getData('/a'))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', 'bob:wrong')
    expect(await failureOf(zk.setData('/a', ''))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', 'bob:other')
    await zk.setData('/a', '')
    expect(await failureOf(zk.getData('/a'))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', 'ann:secret')
    await zk.getData('/a')
    expect(await zk.whoAmI()).to.have.deep.members([
      { authScheme: 'ip', user: '127.0.0.1' },
      ...['bob', 'bob', 'ann'].map(user => ({ authScheme: 'digest', user })),
    ])
  })

  it('identities have the order of a set of Java, in the list of them and in place of auth', async ({ zk }) => {
    const users = [
      'ann',
      'bob',
      'carol',
      'dave',
      'erin',
      'frank',
      'grace',
      'heidi',
      'ivan',
      'judy',
      'mallory',
      'olivia',
    ]
    const listed = async () => {
      await zk.create('/auth', '', { acl: creatorAllACL })
      const { acl } = await zk.getACL('/auth')
      await zk.delete('/auth')
      const identities = await zk.whoAmI()
      const names = identities.map(({ user }) => user)
      expect(acl.map(({ id }) => id.id.split(':')[0])).to.deep.equal(names.filter(name => !name.startsWith('127.')))
      return names.join(' ')
    }
    await zk.addAuth('digest', 'ann:secret')
    expect(await listed()).to.equal('ann 127.0.0.1')
    for (const user of users) await zk.addAuth('digest', `${user}:secret`)
    const all = 'frank judy bob ann ivan 127.0.0.1 carol olivia heidi mallory grace dave erin'
    expect(await listed()).to.equal(all)
  })

  it('an entry of the scheme ip matches a network', async ({ zk }) => {
    const mayRead = async (id: string) => {
      await zk.create('/ip', '', { acl: [aclOf('ip', id)] })
      const outcome = await zk.getData('/ip').catch((error: unknown) => error)
      await zk.delete('/ip')
      return !(outcome instanceof Error)
    }
    for (const id of ['127.0.0.1', '127.0.0.1/32', '127.255.0.0/8', '0.0.0.0/0', '126.0.0.0/7'])
      expect(await mayRead(id), id).to.equal(true)
    for (const id of ['127.0.0.2', '127.0.0.2/31', '128.0.0.0/8', '0.0.0.0'])
      expect(await mayRead(id), id).to.equal(false)
  })

  it('an ACL with an impossible id is rejected', async ({ zk }) => {
    const bad = [
      ['world', 'everyone'],
      ['digest', 'ann'],
      ['digest', 'a:b:c'],
      ['digest', 'ann:'],
      ['ip', 'localhost'],
      ['ip', '127.0.0'],
      ['ip', '127.0.0.256'],
      ['ip', '127.0.0.1/33'],
      ['nobody', 'x'],
      ['auth', ''],
    ] as const
    for (const [scheme, id] of bad)
      expect(await failureOf(zk.create('/a', '', { acl: [aclOf(scheme, id)] })), `${scheme} ${id}`).to.include({
        code: 'INVALIDACL',
      })
    expect(await failureOf(zk.create('/a', '', { acl: [...openACL, aclOf('nobody', 'x')] }))).to.include({
      code: 'INVALIDACL',
    })
  })

  it('the scheme auth is replaced by each identity that the caller has proved', async ({ zk }) => {
    await zk.addAuth('digest', 'ann:secret')
    await zk.create('/a', '', { acl: creatorAllACL })
    expect((await zk.getACL('/a')).acl).to.deep.equal([aclOf('digest', ann)])
    await zk.addAuth('digest', 'bob:other')
    await zk.setACL('/a', [aclOf('auth', 'ignored', perms.read | perms.admin), aclOf('world', 'anyone', perms.write)])
    expect((await zk.getACL('/a')).acl).to.have.deep.members([
      ...[ann, bob].map(id => aclOf('digest', id, perms.read | perms.admin)),
      aclOf('world', 'anyone', perms.write),
    ])
  })

  it('the id of the scheme auth may be null, which kazoo sends instead of an empty id', async world => {
    const session = await world.session()
    await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
    const acl = [{ perms: perms.all, id: { scheme: 'auth', id: null } }]
    await session.request(kazooCreate, { path: world.at('/a'), data: '', acl, flags: 0 })
    await world.zk.addAuth('digest', 'ann:secret')
    expect((await world.zk.getACL('/a')).acl).to.deep.equal([aclOf('digest', ann)])
  })

  it('an ACL whose scheme is null is rejected; Java sends one for an Id without fields', async world => {
    const session = await world.session()
    await world.zk.create('/there')
    const acl = [{ perms: perms.all, id: { scheme: null, id: null } }]
    const creation = { path: world.at('/a'), data: '', acl, flags: 0 }
    expect(await errOf(session, createWith(javaACL), creation)).to.equal(errnos.INVALIDACL)
    const change = { path: world.at('/there'), acl, version: -1 }
    expect(await errOf(session, setACLWithNull, change)).to.equal(errnos.INVALIDACL)
  })

  it('duplicate entries are removed, and the order does not change', async ({ zk }) => {
    const list = [aclOf('world', 'anyone', perms.all), aclOf('ip', '127.0.0.1'), aclOf('world', 'anyone', perms.all)]
    await zk.create('/a', '', { acl: list })
    expect((await zk.getACL('/a')).acl).to.deep.equal(list.slice(0, 2))
  })

  it('digests are hidden from a client that may only read', async world => {
    const { zk } = world
    const readers: Client = await world.client()
    await zk.addAuth('digest', 'ann:secret')
    const list = [aclOf('digest', ann), aclOf('world', 'anyone', perms.read)]
    await zk.create('/a', '', { acl: list })
    expect((await zk.getACL('/a')).acl).to.deep.equal(list)
    expect((await readers.getACL('/a')).acl).to.deep.equal([aclOf('digest', 'ann:x'), list[1]])
  })

  it('the ACL of the parent decides who may delete a node', async world => {
    const { zk } = world
    const guest = await world.client()
    await zk.addAuth('digest', 'ann:secret')
    await zk.create('/a', '', { acl: creatorAllACL })
    await guest.delete('/a')
  })

  it('a session must authenticate again on each connection', async world => {
    const session = await world.session()
    await world.zk.create('/a', '', { acl: [aclOf('digest', ann)] })
    const request = { path: world.at('/a'), watch: false }
    await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
    expect(await errOf(session, operations.getData, request)).to.equal(0)
    session.drop()
    const { sessionId, password } = session
    const again = await world.session({ sessionId, password })
    expect(await errOf(again, operations.getData, request)).to.equal(errnos.NOAUTH)
    await world.zk.addAuth('digest', 'ann:secret')
  })

  it('credentials of an unknown scheme are rejected, and the connection is closed', async world => {
    for (const scheme of ['nonsense', 'world', 'auth']) {
      const session = await world.session()
      expect(await errOf(session, operations.auth, { type: 0, scheme, auth: 'x' }), scheme).to.equal(errnos.AUTHFAILED)
      await session.whenClosed()
    }
  })
})
