// Bugs of the ReentrantMutex and of its queue in the process.
import type { PlantedBug } from '../planted-bug.ts'

const inProcess = {
  file: 'src/recipes/locks/in-process-queue.ts',
  caughtBy: 'test/recipes/locks/reentrant-mutex.test.ts',
}
const reentrant = {
  file: 'src/recipes/locks/reentrant-mutex.ts',
  caughtBy: 'test/recipes/locks/reentrant-mutex.test.ts',
}

export const reentrants: readonly PlantedBug[] = [
  {
    ...inProcess,
    bug: 'a lock that its owner entered twice is released by the first release',
    from: 'if (this.#entries > 1) {',
    to: 'if (this.#entries > 2) {',
  },
  {
    ...inProcess,
    bug: 'after a loss the next local request waits until the old owner releases',
    from: 'onAbort(held.signal, () => this.#end())',
    to: '',
  },
  {
    ...inProcess,
    bug: 'two views of one session queue separately for the same lock',
    from: 'const key = serverPath(client, path)',
    to: 'const key = path',
  },
  {
    ...inProcess,
    bug: 'the owner enters its lock again while it is being released',
    from: "return this.#state === 'held'",
    to: "return this.#state === 'held' || this.#state === 'releasing'",
  },
  {
    ...inProcess,
    bug: 'a lock whose release was refused does not count as held any more',
    from: "if (this.#state === 'releasing') this.#enterHeld()",
    to: '',
  },
  {
    ...inProcess,
    bug: 'a request that fails at the server blocks the local ones after it',
    from: '} catch (error) {\n      this.#end()\n      throw error',
    to: '} catch (error) {\n      throw error',
  },
  {
    ...inProcess,
    bug: 'an owner with two requests waits for itself',
    from: 'request !== holder && request.owner === holder.owner',
    to: 'request === holder && this.first === undefined',
  },
  {
    ...reentrant,
    bug: 'callers without an owner enter the lock together',
    from: "owner ?? Symbol('a new owner')",
    to: 'owner',
  },
  {
    ...reentrant,
    bug: 'tryAcquire() waits while a local owner holds the lock',
    from: 'if (queue.first !== undefined) return null',
    to: '',
  },
  {
    file: 'src/recipes/locks/async-owner.ts',
    caughtBy: 'test/recipes/locks/async-owner.test.ts',
    bug: 'the async context of a loop of acquire and release grows for ever',
    from: 'other !== scope && !other.isOver',
    to: 'other !== scope',
  },
]
