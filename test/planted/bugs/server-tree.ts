// Bugs of the embedded server’s nodes: the tree, its transactions, permissions, reads and writes.
import type { PlantedBug } from '../planted-bug.ts'

const contract = 'test/contract/contract.test.ts'
const tree = { file: 'src/server/tree.ts', caughtBy: contract }
const transaction = { file: 'src/server/transaction.ts', caughtBy: contract }
const writes = { file: 'src/server/writes.ts', caughtBy: contract }
const reads = { file: 'src/server/reads.ts', caughtBy: contract }
const acl = { file: 'src/server/acl.ts', caughtBy: contract }

export const serverTree: readonly PlantedBug[] = [
  {
    ...tree,
    bug: 'a rejected multi leaves the counter of its parent increased',
    from: 'Object.assign(parent, { created, pzxid })',
    to: '',
  },
  {
    ...tree,
    bug: 'the cversion of a parent counts only created children',
    from: '(node.created * 2 - node.children.size) | 0',
    to: 'node.created',
  },
  {
    ...tree,
    bug: 'a container is deleted before its first child was created',
    from: ': created > 0',
    to: ': true',
  },
  {
    ...tree,
    bug: 'a node with a ttl is deleted together with its children',
    from: 'if (children.size > 0) return false',
    to: '',
  },
  {
    ...tree,
    bug: 'a session cannot end after one of its ephemeral nodes was deleted',
    from: 'this.#ephemerals.get(kind.session)?.delete(path)',
    to: 'undefined',
  },
  {
    ...tree,
    bug: 'setData leaves the time of the last change as it was',
    from: 'mzxid: tx.zxid, mtime: tx.time })',
    to: 'mzxid: tx.zxid })',
  },
  {
    ...tree,
    bug: 'two sequential nodes of one multi get the same number',
    from: 'tx.counters.get(parent) ?? parent.created',
    to: 'parent.created',
  },
  {
    ...tree,
    bug: 'negative sequence numbers have ten digits after the minus sign',
    from: "padStart(9, '0')",
    to: "padStart(10, '0')",
  },
  {
    ...tree,
    bug: 'the descendants of a path include the nodes whose names begin with its name',
    from: "each.startsWith(path + '/')",
    to: 'each.startsWith(path) && each !== path',
  },
  {
    ...transaction,
    bug: 'a rejected multi that changed a node twice leaves the first change',
    from: '.reverse()) undo()',
    to: ') undo()',
  },
  {
    ...transaction,
    bug: 'a rejected multi sends the events of its operations',
    from: 'this.#changes.length = 0',
    to: '',
  },
  {
    file: 'src/server/standalone.ts',
    bug: 'a rejected multi is reported as a transaction',
    from: 'if (!tx.rolledBack) report',
    to: 'report',
    caughtBy: 'test/server/transactions-and-close.test.ts',
  },
  {
    ...tree,
    bug: 'the ephemeral nodes of an ended session stay',
    from: 'for (const path of this.ephemeralsOf(session)) this.delete(tx, path)',
    to: '',
    caughtBy: 'test/server/control.test.ts',
  },
  {
    ...writes,
    bug: 'a node with children can be deleted',
    from: "if (node.children.size > 0) throw new RequestError('NOTEMPTY')",
    to: '',
  },
  {
    ...writes,
    bug: 'an ephemeral node can have children',
    from: "if (parent.kind.is === 'ephemeral') throw",
    to: "if (parent.kind.is === 'container' && tx.zxid < 0n) throw",
  },
  {
    ...writes,
    bug: 'setACL compares the version of the data and not that of the ACL',
    from: 'requireVersion(node.aversion, version)',
    to: 'requireVersion(node.version, version)',
  },
  {
    ...writes,
    bug: 'a multi that is rejected keeps the changes before the failed operation',
    from: 'context.tx.rollBack()',
    to: '',
  },
  {
    ...writes,
    bug: 'a rejected multi names every operation as the failed one',
    from: "i < failed ? 'OK' : i === failed ? error.code : 'RUNTIMEINCONSISTENCY'",
    to: 'error.code',
  },
  {
    ...writes,
    bug: 'the right to delete a node depends on its own ACL and not on that of its parent',
    from: 'requirePermission(tree.get(parentPath).acl, perms.delete, identities)\n  const node = tree.get(path)',
    to: 'const node = tree.get(path)\n  requirePermission(node.acl, perms.delete, identities)',
  },
  {
    ...writes,
    bug: 'a wrong version is accepted if it is lower',
    from: 'expected !== -1 && expected !== actual',
    to: 'expected !== -1 && expected > actual',
  },
  {
    ...reads,
    bug: 'exists() sets no watch on a node that does not exist',
    from: "  if (watch) watches.data.add(path, watcher, 'once')\n  return { stat: statOf(tree.get(path)) }",
    to: "  const stat = statOf(tree.get(path))\n  if (watch) watches.data.add(path, watcher, 'once')\n  return { stat }",
  },
  {
    ...reads,
    bug: 'getData() returns the data of a node that the session may not read',
    from: 'requirePermission(node.acl, perms.read, identities)',
    to: '',
  },
  {
    ...reads,
    bug: 'getEphemerals() ignores its prefix',
    from: ' : all.filter(path => path.startsWith(prefix))',
    to: ' : all',
  },
  {
    ...acl,
    bug: 'an entry of an ACL grants a permission only if it grants no other one',
    from: '(granted & permission) !== 0',
    to: 'granted === permission',
  },
  {
    ...acl,
    bug: 'the scheme auth grants the rights only to the first proved identity',
    from: 'return proved.map(id',
    to: 'return proved.slice(0, 1).map(id',
  },
  {
    ...acl,
    bug: 'an entry for a network applies to every address',
    from: 'const shift = 32n - BigInt(network.bits)',
    to: 'const shift = 32n',
  },
  {
    ...acl,
    bug: 'the hashes of passwords are shown to every client that may read',
    from: "entry.id.scheme === 'digest' && !allows(acl, perms.admin, identities)",
    to: "entry.id.scheme === 'digest' && identities.length === 0",
  },
  {
    ...acl,
    bug: 'an ACL keeps its duplicate entries',
    from: 'acl ?? []).map(each => [JSON.stringify(each), each])',
    to: 'acl ?? []).map((each, i) => [String(i), each])',
  },
  {
    file: 'src/server/operations.ts',
    caughtBy: contract,
    bug: 'sync fails if its node does not exist',
    from: 'read(o.sync, (_, { path }) => ({ path }),',
    to: 'read(o.sync, ({ database }, { path }) => (database.tree.get(path), { path }),',
  },
]
