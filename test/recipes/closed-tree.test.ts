// The option `acl` of connect: no call and no recipe creates a node that is open to everybody, neither its own nodes nor
// missing ones above. The requests are examined and not the tree, because some nodes exist for a moment only.
import { expect } from 'chai'
import { once } from 'node:events'
import {
  connect,
  creatorAllACL,
  openACL,
  readOnlyACL,
  supervise,
  type ACL,
  type ConnectOptions,
} from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { held, running } from './public-objects.ts'
import { turns } from '../support/turns.ts'
import { end, publicCalls, Stage, type PublicCall } from './public-calls.ts'

const closed: ConnectOptions = { auth: [{ scheme: 'digest', auth: 'ann:secret' }], acl: creatorAllACL }

const callOf = (make: (scene: Stage['scene']) => unknown): PublicCall => ({
  call: scene => Promise.resolve(make(scene)),
})

const all: Readonly<Record<string, PublicCall>> = {
  // Those have an ACL of their own, which is open.
  ...Object.fromEntries(Object.entries(publicCalls).filter(([name]) => !name.endsWith(' with an ACL'))),
  ...Object.fromEntries(Object.entries(running).map(([name, make]) => [`a running ${name}`, callOf(make)])),
  ...Object.fromEntries(Object.entries(held).map(([name, { hold }]) => [`a ${name}`, callOf(hold)])),
  'create with parents': callOf(({ client }) => client.create('/a/b/c', '', { parents: true })),
  'create with parents and its own ACL': callOf(({ client }) =>
    client.create('/a/b/c', '', { parents: true, acl: creatorAllACL }),
  ),
  ensurePath: callOf(({ client }) => client.ensurePath('/a/b', { mode: 'container' })),
  'a view of a missing chroot': callOf(({ client }) => client.chroot('/a/b').ensurePath('/c')),
  'a lock below a missing chroot': callOf(({ client }) => new Mutex(client.chroot('/a/b'), '/c/d').acquire()),
  multi: callOf(({ client }) => client.multi([{ create: '/a' }, { create: '/a/b', mode: 'container' }])),
  transaction: callOf(({ client }) => client.transaction().create('/a').create('/a/b').commit()),
}

/** Runs a call to its end. Returns the frames of the client that have an ACL. */
async function framesOf({ before, call, finish, runsUntilAborted }: PublicCall): Promise<string[]> {
  const frames: string[] = []
  const onFrame: ConnectOptions['onFrame'] = ({ from, bytes }) => {
    const text = Buffer.from(bytes).toString('latin1')
    // Each entry has the length of the scheme before it, and its id behind it.
    if (from === 'client' && (text.includes('auth\0\0\0\0') || text.includes('world'))) frames.push(text)
  }
  const stage = await Stage.open({ ...closed, onFrame }, undefined, closed)
  const { clock, scene } = stage
  await clock.until(Promise.resolve(before?.(scene)))
  const stop = new AbortController()
  const outcome = outcomeOf(call(scene, { signal: stop.signal }))
  await turns()
  const finished = Promise.resolve(finish?.(scene))
  if (runsUntilAborted === true) stop.abort()
  const ended = await clock.until(outcome)
  await clock.until(Promise.all([finished, end(ended)]))
  await stage.close()
  return frames
}

describe('with the option acl of connect', () => {
  let created = 0
  for (const [name, call] of Object.entries(all))
    it(`${name} leaves no node open`, async () => {
      const frames = await framesOf(call)
      created += frames.length
      expect(frames.filter(frame => frame.includes('world'))).to.deep.equal([])
    })
  it('which most of them use', () => {
    expect(created).to.be.above(100)
  })

  const aclsOf = async (options: ConnectOptions, ...paths: string[]) => {
    await using server = await Server.start()
    return await supervise(server.connectString, options, async (zk, signal) => {
      const given = options.acl as ACL[] | undefined
      // The next session opens after the caller has changed its list.
      if (given?.splice(0).length) {
        server.expireSession(zk.sessionId)
        await once(signal, 'abort')
      }
      await zk.create('/a/own', '', { parents: true, acl: readOnlyACL })
      await zk.create('/a/default', '', { parents: true })
      return Promise.all(paths.map(async path => (await zk.getACL(path)).acl))
    })
  }

  it('a call uses its own ACL, and the option for the nodes above, even if the caller changes the list later', async () => {
    const acl = [{ perms: 31, id: { scheme: 'ip', id: '127.0.0.1' } }]
    const given = acl.map(each => ({ ...each }))
    expect(await aclsOf({ acl: given }, '/a', '/a/own', '/a/default')).to.deep.equal([acl, readOnlyACL, acl])
    expect(await aclsOf({}, '/a', '/a/own')).to.deep.equal([openACL, readOnlyACL])
  })

  it('connect() refuses one that is no ACL, and a session without an identity gets INVALIDACL for the creator’s', async () => {
    for (const acl of [[], 'world', [null], [{ perms: 31 }], openACL[0]])
      expect(await failureOf(connect('localhost:1', { acl } as never))).to.include({ code: 'BADARGUMENTS' })
    await using server = await Server.start()
    await using zk = await connect(server.connectString, { acl: creatorAllACL })
    expect(await failureOf(zk.create('/a'))).to.include({ code: 'INVALIDACL' })
    expect(await failureOf(new Mutex(zk, '/a/b').acquire())).to.include({ code: 'INVALIDACL' })
    expect((await zk.getChildren('/')).children).to.deep.equal(['zookeeper'])
  })
})
