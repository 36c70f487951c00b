// Session expiry and container checks, on a server with short intervals.
import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import { failureOf, outcomeOf } from '../../support/settled.ts'
import { until } from '../../../environment/until.ts'
import { openACL, suite, type World } from '../suite.ts'

/** Options of a server with short intervals, ms. They are named as in zoo.cfg. */
export const shortIntervals = {
  tickTime: 50,
  minSessionTimeout: 100,
  maxSessionTimeout: 20_000,
  containerCheckInterval: 40,
}

const isGone = (world: World, path: string) => until(async () => (await world.zk.exists(path)) === null)

export const time = suite('time:', it => {
  it('a silent session expires: its nodes are deleted, their watches fire, and no client can resume it', async world => {
    const events: string[] = []
    await world.zk.create('/parent')
    await using watcher = await world.zk.addWatch('/parent', { recursive: true })
    let session = await world.session({ timeout: shortIntervals.minSessionTimeout })
    const path = world.at('/parent/e')
    const create = () => session.request(operations.create, { path, data: '', acl: openACL, flags: 1 })
    // On a busy machine the session may expire before its first request.
    while ((await outcomeOf(create())) instanceof Error)
      session = await world.session({ timeout: shortIntervals.minSessionTimeout })
    for await (const { type } of watcher) if (events.push(type) === 2) break
    expect(events).to.deep.equal(['NodeCreated', 'NodeDeleted'])
    await session.whenClosed()
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('a session expires if it sends nothing but credentials', async world => {
    const session = await world.session({ timeout: shortIntervals.minSessionTimeout })
    const packet = { type: 0, scheme: 'digest', auth: 'ann:secret' }
    await until(async () => (await outcomeOf(session.request(operations.auth, packet))) instanceof Error)
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('a container is deleted after its last child, and not before its first', async world => {
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

  it('a node with a ttl is deleted if it has not changed for that time, unless it has children', async world => {
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
