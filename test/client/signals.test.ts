// The caller's signal, in every call that takes one.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { connect, openACL, Sessions, supervise, ZooKeeperError, type Client } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { publicCallsWith } from '../support/public-names.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'

describe('the signal of a call', () => {
  let server: Server
  let zk: Client

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
  })

  afterEach(async () => {
    server.resume()
    await zk.close()
    await server.close()
  })

  /** Calls that send a request. The first word of a name is the declaration. */
  const requests: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    'Client.create': signal => zk.create('/a', '', { signal }),
    'Client.create with parents': signal => zk.create('/a/b', '', { signal, parents: true }),
    'Client.delete': signal => zk.delete('/a', { signal }),
    'Client.setData': signal => zk.setData('/', 'x', { signal }),
    'Client.setACL': signal => zk.setACL('/', openACL, { signal }),
    'Client.multi': signal => zk.multi([{ create: '/a' }], { signal }),
    'Transaction.commit': signal => zk.transaction().create('/a').commit({ signal }),
    'Client.deleteRecursive': signal => zk.deleteRecursive('/a', { signal }),
    'Client.ensurePath': signal => zk.ensurePath('/a', { signal }),
    'Client.exists': signal => zk.exists('/', { signal }),
    'Client.getData': signal => zk.getData('/', { signal }),
    'Client.getChildren': signal => zk.getChildren('/', { signal }),
    'Client.getACL': signal => zk.getACL('/', { signal }),
    'Client.getAllChildrenNumber': signal => zk.getAllChildrenNumber('/', { signal }),
    'Client.getEphemerals': signal => zk.getEphemerals('/', { signal }),
    'Client.getConfig': signal => zk.getConfig({ signal }),
    'Client.reconfig': signal => zk.reconfig({ leaving: [1], signal }),
    'Client.sync': signal => zk.sync('/', { signal }),
    'Client.whoAmI': signal => zk.whoAmI({ signal }),
    'Client.multiRead': signal => zk.multiRead([{ getData: '/' }], { signal }),
    'Client.checkWatches': signal => zk.checkWatches('/', 'data', { signal }),
    'Client.removeWatches': signal => zk.removeWatches('/', 'any', { signal }),
    'Client.addAuth': signal => zk.addAuth('digest', 'ann:secret', { signal }),
    'Client.addWatch': async signal => (await zk.addWatch('/', { signal })).close(),
  }
  /** The other calls. With the paused server, each of them waits. */
  const waits: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    'Client.whenConnected': signal => zk.whenConnected({ signal }),
    'Client.retry': signal => zk.retry(() => (zk.state === 'connected' ? zk.exists('/') : lost()), { signal }),
    'Client.states': async signal => {
      for await (const state of zk.states({ signal })) if (state === 'closed') break
    },
    connect: async signal => (await connect(server.connectString, { dial: server.dial, signal })).close(),
    supervise: signal => supervise(server.connectString, { dial: server.dial, signal }, client => client.exists('/')),
    'Sessions.use': signal => withSessions(each => each.use({ signal }, client => client.exists('/'))),
    'Sessions.withLock': signal => {
      const use = (fn: (held: undefined) => unknown) => Promise.resolve(fn(undefined) as never)
      return withSessions(each =>
        each.withLock(
          () => ({ use }),
          { signal },
          () => undefined,
        ),
      )
    },
    'Sessions.whenReady': signal => withSessions(each => each.whenReady({ signal })),
  }
  const withSessions = async (task: (sessions: Sessions) => Promise<unknown>) => {
    const sessions = new Sessions(server.connectString, { dial: server.dial })
    return task(sessions).finally(() => void sessions.close({ timeout: 0 }))
  }
  const lost = () => Promise.reject(new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown' }))
  /** Calls that wait only while there is no connection. */
  const needsOutage = (name: string) => name === 'Client.whenConnected' || name === 'Client.retry'
  const calls = Object.entries({ ...requests, ...waits })
  const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

  it('is tested here if the declaration of the call has one', () => {
    const declarations = new Set(calls.map(([name]) => name.split(' ')[0]))
    expect([...declarations]).to.have.members(publicCallsWith('signal', ['src/index.ts']))
  }).timeout(60_000)

  for (const [name, call] of calls)
    it(`${name} that is aborted before it rejects with the reason, and sends nothing`, async () => {
      const { received } = server.stats
      expect(await failureOf(call(AbortSignal.abort('not wanted any more')))).to.equal('not wanted any more')
      await zk.exists('/')
      expect(server.stats.received - received).to.equal(1)
      expect(server.snapshot().nodes.size).to.equal(1)
      expect(server.snapshot().watches).to.deep.equal([])
    })

  for (const [name, call] of calls)
    it(`${name} that is aborted while it waits rejects with the reason at once, and is listened to no more`, async () => {
      if (needsOutage(name)) await server.stop()
      else await zk.exists('/', { watch: () => undefined })
      server.pause()
      const { signal, abort } = abortable()
      const called = failureOf(call(signal))
      await settle()
      expect(listeners(signal)).to.equal(1)
      abort('too slow')
      expect(await called).to.equal('too slow')
      expect(listeners(signal)).to.equal(0)
      if (needsOutage(name)) await server.start()
      server.resume()
      await zk.settled()
    })

  for (const [name, call] of calls)
    it(`${name} that is not aborted is listened to no more when the call has ended, or its session has`, async () => {
      const { signal } = abortable()
      if (name !== 'Client.states') await outcomeOf(call(signal))
      expect(listeners(signal), 'after the call').to.equal(0)
      server.pause()
      const called = outcomeOf(call(signal))
      const closing = zk.close({ timeout: 1 })
      server.resume()
      await Promise.all([called, closing])
      expect(listeners(signal), 'after the session').to.equal(0)
    })

  it('that aborts removeWatches in flight rejects it at once, and the watch is removed nevertheless', async () => {
    await zk.exists('/', { watch: () => expect.fail('the watch was removed') })
    const controller = new AbortController()
    const hold = server.faults.hold('removeWatches')
    const removing = failureOf(zk.removeWatches('/', 'any', { signal: controller.signal }))
    await hold.triggered
    controller.abort('too slow')
    expect(await removing).to.equal('too slow')
    hold.release()
    await zk.settled()
    expect(server.snapshot().watches).to.deep.equal([])
    await zk.setData('/', 'x')
  })

  it('that aborts addAuth makes later connections not send the credential', async () => {
    const controller = new AbortController()
    await server.stop()
    const adding = failureOf(zk.addAuth('digest', 'ann:secret', { signal: controller.signal }))
    controller.abort('too slow')
    expect(await adding).to.equal('too slow')
    await server.start()
    await zk.whenConnected()
    expect((await zk.whoAmI()).map(({ authScheme }) => authScheme)).to.deep.equal(['ip'])
  })

  it('that aborts a write in flight rejects it at once, and the server may still execute it', async () => {
    const hold = server.faults.hold('create')
    const controller = new AbortController()
    const creating = failureOf(zk.create('/a', '', { signal: controller.signal }))
    await hold.triggered
    controller.abort('too late')
    expect(await creating).to.equal('too late')
    hold.release()
    expect(await zk.exists('/a')).to.not.equal(null)
  })

  it('that aborts addWatch in flight rejects it at once, and leaves no watch at the server', async () => {
    const hold = server.faults.hold('addWatch')
    const controller = new AbortController()
    const adding = failureOf(zk.addWatch('/', { recursive: true, signal: controller.signal }))
    await hold.triggered
    controller.abort('too late')
    expect(await adding).to.equal('too late')
    hold.release()
    await zk.settled()
    expect(server.snapshot().watches).to.deep.equal([])
  })

  it('that aborts after addWatch ends the watcher with its reason, and removes its watch', async () => {
    const controller = new AbortController()
    const watcher = await zk.addWatch('/', { signal: controller.signal })
    await zk.setData('/', 'not read')
    controller.abort('enough')
    expect(await failureOf(watcher.next())).to.equal('enough')
    expect(await watcher.next()).to.deep.equal({ value: undefined, done: true })
    await watcher.close()
    expect(server.snapshot().watches).to.deep.equal([])
  })

  it('that aborts one of two persistent watches on a path leaves the other', async () => {
    const controller = new AbortController()
    await using other = await zk.addWatch('/')
    await zk.addWatch('/', { signal: controller.signal })
    controller.abort()
    await zk.settled()
    await zk.setData('/', 'x')
    expect((await other.next()).value).to.include({ type: 'NodeDataChanged', path: '/' })
  })

  it('that aborts deleteRecursive stops it between two requests', async () => {
    await zk.create('/a/b/c', '', { parents: true })
    const hold = server.faults.hold('getChildren2')
    const controller = new AbortController()
    const deleting = failureOf(zk.deleteRecursive('/a', { signal: controller.signal }))
    await hold.triggered
    controller.abort('enough')
    expect(await deleting).to.equal('enough')
    hold.release()
    expect(await zk.exists('/a/b/c')).to.not.equal(null)
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: string) => controller.abort(reason) }
}
