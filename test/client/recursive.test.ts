import { expect } from 'chai'
import { createLevels, deleteRecursive } from '../../src/client/recursive.ts'
import { connect, openACL, perms, ZooKeeperError } from '../../src/index.ts'
import { errnos, nameOf, operations, parentOf } from '../../src/protocol/index.ts'
import { Server } from '../../src/server/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { heapInUse } from '../support/garbage.ts'
import { statOf } from '../support/scripted-server.ts'
import { scriptedSession } from '../support/scripted-session.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('createLevels()', () => {
  for (const depth of [1, 2, 50, 51, 101])
    it(`gives one ACL to the last of ${depth} levels, and another to those above`, async () => {
      await using server = await Server.start({ listen: false })
      await using zk = await connect(server.connectString, { dial: server.dial })
      const levels = Array.from({ length: depth }, (_, i) => `/${'x/'.repeat(i)}x`)
      const [acl, aclAbove] = ['10.0.0.1', '10.0.0.2'].map(id => [
        ...openACL,
        { perms: perms.read, id: { scheme: 'ip', id } },
      ])
      expect(await createLevels(zk, levels.at(-1) as string, { mode: 'persistent', acl, aclAbove })).to.equal(true)
      const nodes = await Promise.all(levels.map(path => zk.getACL(path)))
      const expected = levels.map((_, i) => (i === depth - 1 ? '10.0.0.1' : '10.0.0.2'))
      expect(nodes.map(node => node.acl[1]?.id.id)).to.deep.equal(expected)
    })
})

describe('create() with parents', () => {
  it('rejects with the fate of its node if that and its parents are lost together', async () => {
    const { client, connection } = await scriptedSession()
    const created = failureOf(client.create('/a/b', '', { parents: true }))
    connection.reply(await connection.next(), { err: errnos.NONODE })
    await settle()
    expect(connection.requests).to.have.length(3)
    connection.close()
    expect(await created).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', path: '/a/b' })
    await turn()
  })
})

describe('deleteRecursive()', () => {
  it('needs memory in proportion to the depth of the tree, not to its square', async () => {
    const depth = 1000
    const deleted: string[] = []
    let grown = NaN
    let levels = 0
    const before = heapInUse()
    const tree: Parameters<typeof deleteRecursive>[0] = {
      getChildren: path => {
        // Sending a path makes V8 copy its parts into one string.
        Buffer.byteLength(path)
        const isDeepest = ++levels === depth
        if (isDeepest) grown = heapInUse() - before
        return Promise.resolve({ children: isDeepest ? [] : ['twenty-characters-xx'] })
      },
      delete: path => {
        if (deleted.length < 2) deleted.push(path.slice(-41))
        return Promise.resolve()
      },
      create: () => Promise.reject(new Error('not called')),
      exists: () => Promise.reject(new Error('not called')),
      retry: task => task(),
    }
    await deleteRecursive(tree, '/', undefined)
    expect(grown / 2 ** 20, 'MiB').to.be.below(3)
    expect(deleted[0]).to.equal('twenty-characters-xx/twenty-characters-xx')
  })

  /** A tree of paths, which counts the requests in flight. */
  class CountedTree {
    readonly nodes = new Set<string>()
    peak = 0
    #inFlight = 0
    /** Called with each path before it is deleted. */
    onDelete: (path: string) => void = () => undefined
    readonly #children = new Map<string, Set<string>>()

    add(path: string): void {
      if (this.nodes.has(path)) return
      this.nodes.add(path)
      const parent = parentOf(path)
      if (path === '/') return
      this.add(parent)
      const names = this.#children.get(parent) ?? new Set()
      this.#children.set(parent, names.add(nameOf(path)))
    }

    async #request<T>(answer: () => T): Promise<T> {
      this.peak = Math.max(this.peak, ++this.#inFlight)
      await turn()
      this.#inFlight--
      return answer()
    }

    readonly client: Parameters<typeof deleteRecursive>[0] = {
      getChildren: path => this.#request(() => ({ children: [...(this.#children.get(path) ?? [])] })),
      delete: path =>
        this.#request(() => {
          this.onDelete(path)
          if ((this.#children.get(path)?.size ?? 0) > 0) throw new ZooKeeperError('NOTEMPTY', { path, fate: 'refused' })
          this.nodes.delete(path)
          this.#children.get(parentOf(path))?.delete(nameOf(path))
        }),
      create: () => Promise.reject(new Error('not called')),
      exists: () => Promise.reject(new Error('not called')),
      retry: task => task(),
    }
  }

  it('has at most 100 requests in flight, also in a wide tree of several levels', async () => {
    const tree = new CountedTree()
    for (let i = 0; i < 30; i++)
      for (let k = 0; k < 30; k++) for (let l = 0; l < 5; l++) tree.add(`/top/${i}/${k}/${l}`)
    await deleteRecursive(tree.client, '/top', undefined)
    expect([...tree.nodes]).to.deep.equal(['/'])
    expect(tree.peak).to.equal(100)
  })

  it('has 100 requests in flight also below many nodes that wait for them', async () => {
    const tree = new CountedTree()
    const deep = '/deep'.repeat(300)
    for (let i = 0; i < 300; i++) tree.add(`/top${deep.slice(0, i * 5)}/leaf`)
    for (let i = 0; i < 1000; i++) tree.add(`/top${deep}/${i}`)
    await deleteRecursive(tree.client, '/top', undefined)
    expect([...tree.nodes]).to.deep.equal(['/'])
    expect(tree.peak).to.equal(100)
  })

  it('begins no further node after a failure, and rejects when the requests in flight have ended', async () => {
    const tree = new CountedTree()
    for (let i = 0; i < 1000; i++) tree.add(`/top/${i}`)
    const deleted: string[] = []
    const failure = new ZooKeeperError('SYSTEMERROR', { path: '/top/0', fate: 'refused' })
    tree.onDelete = path => {
      deleted.push(path)
      if (path === '/top/0') throw failure
    }
    expect(await failureOf(deleteRecursive(tree.client, '/top', undefined))).to.equal(failure)
    expect(deleted).to.have.length(100)
    await turn()
    expect(deleted).to.have.length(100)
  })

  it('deletes the rest if the session may not delete a part of it, and then rejects', async () => {
    const tree = new CountedTree()
    for (let i = 0; i < 300; i++) tree.add(`/top/${i}/below`)
    const failure = new ZooKeeperError('NOAUTH', { path: '/top/0/below', fate: 'refused' })
    tree.onDelete = path => {
      if (path === failure.path) throw failure
    }
    expect(await failureOf(deleteRecursive(tree.client, '/top', undefined))).to.equal(failure)
    expect([...tree.nodes]).to.have.members(['/', '/top', '/top/0', '/top/0/below'])
  })

  it('lists a node again if another client has created a child, and gives up after 100 rounds', async () => {
    const tree = new CountedTree()
    tree.add('/top/a')
    let added = 0
    tree.onDelete = path => {
      if (path === '/top') tree.add(`/top/late-${++added}`)
    }
    expect(await failureOf(deleteRecursive(tree.client, '/top', undefined))).to.have.property('code', 'NOTEMPTY')
    expect(added).to.equal(100)
  })

  for (const path of ['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota'])
    it(`refuses ${path}, which servers never delete, before it deletes anything`, async () => {
      await using server = await Server.start({ listen: false })
      await using zk = await connect(server.connectString, { dial: server.dial })
      await zk.ensurePath('/app/a')
      await zk.ensurePath('/zookeeper/quota/app')
      const before = [...server.snapshot().nodes.keys()]
      const error = await failureOf(zk.deleteRecursive(path))
      expect(error).to.be.an.instanceOf(ZooKeeperError).with.property('code', 'BADARGUMENTS')
      expect((error as Error).message).to.contain(`servers never delete ${path}: delete the nodes below it`)
      expect([...server.snapshot().nodes.keys()]).to.deep.equal(before)
    })

  it('deletes the root of a chroot, and a quota', async () => {
    await using server = await Server.start({ listen: false })
    await using zk = await connect(server.connectString, { dial: server.dial })
    await zk.ensurePath('/app/a')
    await zk.ensurePath('/zookeeper/quota/app/zookeeper_limits')
    await zk.chroot('/app').deleteRecursive('/')
    await zk.deleteRecursive('/zookeeper/quota/app')
    expect([...server.snapshot().nodes.keys()].filter(path => path.includes('app'))).to.deep.equal([])
  })

  it('can be cancelled while it waits for the reply to a delete', async () => {
    const { client, connection } = await scriptedSession()
    const stop = new AbortController()
    const deleting = failureOf(client.deleteRecursive('/a', { signal: stop.signal }))
    connection.reply(await connection.next(), { body: { children: [], stat: statOf() } })
    expect((await connection.next()).op).to.equal(operations.delete)
    const reason = new Error('cancelled')
    stop.abort(reason)
    const isSettled = trackSettled(deleting)
    await settle()
    expect(isSettled()).to.equal(true)
    expect(await deleting).to.equal(reason)
  })
})
