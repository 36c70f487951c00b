import { expect } from 'chai'
import { deleteRecursive } from '../../src/client/recursive.ts'
import { operations } from '../../src/protocol/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { heapInUse } from '../support/garbage.ts'
import { statOf } from '../support/scripted-server.ts'
import { scriptedSession } from '../support/scripted-session.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

describe('deleteRecursive()', () => {
  it('needs memory in proportion to the depth of the tree, not to its square', async () => {
    const depth = 3000
    const deleted: string[] = []
    let grown = NaN
    const before = heapInUse()
    const tree: Parameters<typeof deleteRecursive>[0] = {
      getChildren: path => {
        // Sending a path makes V8 copy its parts into one string.
        Buffer.byteLength(path)
        const isDeepest = path.split('/').length > depth
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
    expect(grown / 2 ** 20, 'MiB').to.be.below(30)
    expect(deleted[0]).to.equal('twenty-characters-xx/twenty-characters-xx')
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
