// Bugs of the local copies of trees.
import type { PlantedBug } from '../planted-bug.ts'

const folder = 'src/recipes/cache'
const model = 'test/recipes/cache/cache-model.test.ts'
const behaviour = 'test/recipes/cache/cache.test.ts'
const order = 'test/recipes/cache/event-order.test.ts'
const underFaults = 'test/recipes/cache/cache-faults.test.ts'
const keeper = { file: `${folder}/keeper.ts`, caughtBy: model }
const reads = { file: `${folder}/reads.ts`, caughtBy: model }

export const cacheBugs: readonly PlantedBug[] = [
  {
    ...keeper,
    bug: 'a cache takes the deletion of a node for done although a read of the node is under way',
    caughtBy: order,
    from: "type === 'NodeDeleted' && !this.#owner.reads.isUnderWay(path)",
    to: "type === 'NodeDeleted'",
  },
  {
    ...keeper,
    bug: 'a cache does not read again after a reconnect what it has not seen change',
    from: "    for (const [path] of copy.below(copy.path)) this.#read('data', path, true)\n",
    to: '',
  },
  {
    ...keeper,
    bug: 'a cache tells a node that was created again as changed',
    from: 'const isNew = before?.czxid !== stat.czxid',
    to: 'const isNew = before === undefined',
  },
  {
    ...keeper,
    bug: 'a cache tells the children of a node that was created again as deleted although they are new',
    caughtBy: order,
    from: 'unpack(record).stat.czxid >= czxid || ',
    to: '',
  },
  {
    ...keeper,
    bug: 'a cache tells a node that it has read again as changed although it has not changed',
    from: 'else if (before.mzxid !== stat.mzxid) this.#tell',
    to: 'else this.#tell',
  },
  {
    ...keeper,
    bug: 'a cache forgets the nodes below a deleted one only at the deletion of each',
    from: 'for (const [each, record] of [...this.copy.below(path)].reverse()) {\n      this.copy.delete(each)\n      removed(each, record)',
    to: 'for (const [each, record] of [...this.copy.below(path)].slice(0, 1)) {\n      this.copy.delete(each)\n      removed(each, record)',
  },
  {
    ...keeper,
    bug: 'a cache on a server without persistent watches sets no watch for the children of an empty node',
    from: 'const mayHaveChildren = this.watchesEachNode || stat.numChildren > 0',
    to: 'const mayHaveChildren = stat.numChildren > 0',
  },
  {
    ...keeper,
    bug: 'a cache reads a node whose reply was too large again after each reconnect, which the reply causes',
    caughtBy: underFaults,
    from: "return isCode(this.hidden.get(path), 'REPLYTOOLARGE')",
    to: 'return false',
  },
  {
    ...reads,
    bug: 'a cache does not read a node again that has changed while a read was under way',
    from: 'if (again !== undefined) {',
    to: 'if (again?.isLoad === true) {',
  },
  {
    ...reads,
    bug: 'a cache sends a read for each change of a node',
    caughtBy: behaviour,
    from: 'const known = this.#jobs[kind].get(path)',
    to: 'const known = undefined as ReadJob | undefined',
  },
  {
    ...reads,
    bug: 'a cache is ready before it has read the children of the nodes',
    caughtBy: behaviour,
    from: 'if (isLoad && --this.#loading === 0)',
    to: 'if (isLoad && --this.#loading >= 0)',
  },
  {
    ...reads,
    bug: 'a cache applies replies before the events that came first',
    file: `${folder}/tree-watch.ts`,
    caughtBy: order,
    from: 'while (handled !== this.#handled)',
    to: 'while (handled === undefined)',
  },
  {
    bug: 'a cache with a previous one reads from a server that may lag behind',
    file: `${folder}/cache.ts`,
    caughtBy: underFaults,
    from: 'if (isLater) await',
    to: 'if (false as boolean) await',
  },
  {
    bug: 'a copy finds a node by the hash of its name alone',
    file: `${folder}/copy.ts`,
    caughtBy: 'test/recipes/cache/copy.test.ts',
    from: 'this.#at(slot, PARENT) === parent && this.#hasKey(slot, key)',
    to: 'this.#hasKey(slot, key)',
  },
  {
    bug: 'a copy keeps the bytes of records that were replaced',
    file: `${folder}/copy.ts`,
    caughtBy: 'test/recipes/cache/copy.test.ts',
    from: '    this.#put(slot, RECORD, this.#slab.add(record))\n    if (this.#slab.isWasteful) this.#compact()\n',
    to: '    this.#put(slot, RECORD, this.#slab.add(record))\n',
  },
]
