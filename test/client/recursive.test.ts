import { expect } from 'chai'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { deleteRecursive } from '../../src/client/recursive.ts'

describe('deleteRecursive()', () => {
  it('needs memory in proportion to the depth of the tree, not to its square', async () => {
    const depth = 3000
    const deleted: string[] = []
    let grown = NaN
    const before = usedHeap()
    const tree: Parameters<typeof deleteRecursive>[0] = {
      getChildren: path => {
        // Sending a path makes V8 copy its parts into one string.
        Buffer.byteLength(path)
        const isDeepest = path.split('/').length > depth
        if (isDeepest) grown = usedHeap() - before
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
})

/** Returns the bytes of the heap in use after a garbage collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}
