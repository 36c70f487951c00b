// Bugs of the embedded server’s watches and events.
import type { PlantedBug } from '../planted-bug.ts'

const watches = { file: 'src/server/watches.ts', caughtBy: 'test/contract/contract.test.ts' }
const reads = { file: 'src/server/reads.ts', caughtBy: 'test/contract/contract.test.ts' }

export const serverWatches: readonly PlantedBug[] = [
  {
    ...watches,
    bug: 'a one-shot watch is notified of every change',
    from: "if (modes.has('once')) this.#set(path, watcher, minus(modes, 'once'))",
    to: '',
  },
  {
    ...watches,
    bug: 'a recursive watch is notified of the same change twice, by NodeChildrenChanged too',
    from: "if (modes.size === 1 && modes.has('recursive') && type === eventTypes.NodeChildrenChanged) continue",
    to: '',
  },
  {
    ...watches,
    bug: 'a session that watches the data and the children of a node gets two events for its deletion',
    from: 'path, acl, zxid, notified)',
    to: 'path, acl, zxid)',
  },
  {
    ...watches,
    bug: 'recursive watches are not notified any more after another watch was removed',
    from: "Number(before.has('recursive'))",
    to: 'Number(before.size > 0)',
  },
  {
    ...watches,
    bug: 'removeWatches with the type any leaves the watch on the data',
    from: '{ tables: [children, data] }\n    const',
    to: '{ tables: [children] }\n    const',
  },
  {
    ...watches,
    bug: 'removeWatches removes the watches of all sessions',
    from: '    watchers.delete(watcher)\n',
    to: '    watchers.clear()\n',
  },
  {
    ...watches,
    bug: 'the parent’s watches do not notice a deleted child',
    from: 'this.children.trigger(eventTypes.NodeChildrenChanged, parentOf(path), parentACL, zxid)',
    to: 'if (type !== eventTypes.NodeDeleted)\n      this.children.trigger(eventTypes.NodeChildrenChanged, parentOf(path), parentACL, zxid)',
  },
  {
    ...watches,
    bug: 'a recursive watch on the root is notified of nothing',
    from: "for (let ancestor = path; ancestor !== '/';) {\n        ancestor = parentOf(ancestor)",
    to: "for (let ancestor = parentOf(path); ancestor !== '/'; ancestor = parentOf(ancestor)) {",
  },
  {
    ...reads,
    bug: 'setWatches sends an event for a change that the client has seen already',
    from: 'node.mzxid > request.relativeZxid',
    to: 'node.mzxid >= request.relativeZxid',
  },
  {
    ...reads,
    bug: 'a client that reconnects is not told of children that changed meanwhile',
    from: 'else if (node.pzxid > request.relativeZxid) watcher.notify(NodeChildrenChanged, path)\n',
    to: '',
  },
  {
    ...reads,
    bug: 'a client that reconnects is not told that the node it waited for exists',
    from: 'if (tree.find(path) !== undefined) watcher.notify(NodeCreated, path)\n    else',
    to: '',
  },
]
