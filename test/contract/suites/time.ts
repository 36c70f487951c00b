// What happens by itself, as time goes by: on a server whose time is short.
import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import { failureOf, outcomeOf } from '../../support/settled.ts'
import { until } from '../../support/until.ts'
import { chapter, openACL, type World } from '../suite.ts'

/** Milliseconds, and as zoo.cfg and the server's switches call them. */
export const brisk = { tickTime: 50, minSessionTimeout: 100, maxSessionTimeout: 20_000, containerCheckInterval: 40 }

const isGone = (world: World, path: string) => until(async () => (await world.zk.exists(path)) === null)

export const time = chapter('time', it => {
  it('a silent session ends: its nodes go, who watches hears it, and nobody has it any more', async world => {
    const heard: string[] = []
    await world.zk.create('/parent')
    await using watcher = await world.zk.addWatch('/parent', { recursive: true })
    let session = await world.session({ timeout: brisk.minSessionTimeout })
    const path = world.at('/parent/e')
    const create = () => session.request(operations.create, { path, data: '', acl: openACL, flags: 1 })
    // On a busy machine it may have ended before it could say anything.
    while ((await outcomeOf(create())) instanceof Error)
      session = await world.session({ timeout: brisk.minSessionTimeout })
    for await (const { type } of watcher) if (heard.push(type) === 2) break
    expect(heard).to.deep.equal(['NodeCreated', 'NodeDeleted'])
    await session.whenClosed()
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('a session ends that says no more than who it is', async world => {
    const session = await world.session({ timeout: brisk.minSessionTimeout })
    const packet = { type: 0, scheme: 'digest', auth: 'ann:secret' }
    await until(async () => (await outcomeOf(session.request(operations.auth, packet))) instanceof Error)
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('a container goes when it has had children and has none, and not before', async world => {
    const { zk } = world
    for (const path of ['/never', '/used', '/full']) await zk.create(path, '', { mode: 'container' })
    for (const path of ['/used/a', '/full/a']) await zk.create(path)
    await zk.delete('/used/a')
    await isGone(world, '/used')
    expect((await zk.getChildren('/')).children).to.have.members(['never', 'full'])
    expect(await zk.exists('/')).to.include({ cversion: 4, numChildren: 2 })
    await zk.delete('/full/a')
    await isGone(world, '/full')
  })

  it('a node with a ttl goes when nobody changed it for so long, unless it has children', async world => {
    const { zk } = world
    const { path } = await zk.create('/n-', '', { mode: 'persistentSequentialTTL', ttl: 1 })
    expect(path).to.equal('/n-0000000000')
    await zk.create('/later', '', { mode: 'persistentTTL', ttl: 2 ** 40 - 1 })
    await zk.multi([{ create: '/parent', mode: 'persistentTTL', ttl: 1 }, { create: '/parent/child' }])
    await isGone(world, path)
    expect((await zk.getChildren('/')).children).to.have.members(['later', 'parent'])
    await zk.delete('/parent/child')
    await isGone(world, '/parent')
  })
})
