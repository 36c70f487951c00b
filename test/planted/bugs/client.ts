// Bugs of the client: paths, arguments, multis, subtrees, views.
import type { PlantedBug } from '../planted-bug.ts'

const acl = { file: 'src/client/acl.ts', caughtBy: 'test/session/life/auth.test.ts' }
const chroot = { file: 'src/client/chroot.ts', caughtBy: 'test/client/operations.test.ts' }
const client = { file: 'src/client/client.ts', caughtBy: 'test/client/interface.test.ts' }
const config = { file: 'src/client/ensemble-config.ts', caughtBy: 'test/client/reconfig-following.test.ts' }
const connect = { file: 'src/client/connect.ts', caughtBy: 'test/client/connect.test.ts' }
const multi = { file: 'src/client/multi.ts', caughtBy: 'test/client/real-server.test.ts' }
const operations = { file: 'src/client/operations.ts', caughtBy: 'test/client/operations.test.ts' }
const recursive = { file: 'src/client/recursive.ts', caughtBy: 'test/client/validation.test.ts' }
const states = { file: 'src/client/state-iterator.ts', caughtBy: 'test/client/interface.test.ts' }
const transaction = { file: 'src/client/transaction.ts', caughtBy: 'test/client/interface.test.ts' }
const validation = { file: 'src/client/validation.ts', caughtBy: 'test/client/validation.test.ts' }

export const clientBugs: readonly PlantedBug[] = [
  {
    ...chroot,
    bug: 'below the root /app a client is given paths below /apple',
    from: "serverPath.startsWith(this.prefix + '/')",
    to: 'serverPath.startsWith(this.prefix)',
  },
  {
    ...chroot,
    bug: 'a sequential node at the root of a chroot is created beside the chroot',
    caughtBy: 'test/client/validation.test.ts',
    from: "path === '/' && !isSequential ? this.prefix",
    to: "path === '/' ? this.prefix",
  },
  {
    ...chroot,
    bug: 'a node that the server created at another path is accepted',
    caughtBy: 'test/faults/bytes.test.ts',
    from: 'if (!path.startsWith(requested)) throw',
    to: "if (path === '') throw",
  },
  {
    ...client,
    bug: 'a listener of once() is called at every change',
    from: "if (isOnce) this.off('state', listener)\n",
    to: '',
  },
  {
    ...client,
    bug: 'whenConnected() resolves at a read-only server',
    caughtBy: 'test/session/servers/read-only.test.ts',
    from: "this.state === 'connected' || (readOnly && this.state === 'connectedReadOnly')",
    to: "this.state === 'connected' || this.state === 'connectedReadOnly'",
  },
  {
    ...client,
    bug: 'closing a view ends the session of all',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
    from: 'if (!this.#isView) return this.#session.close(timeout)',
    to: 'if (!this.#isClosed) return this.#session.close(timeout)',
  },
  {
    ...client,
    bug: 'a new list of servers changes the root of the client silently',
    caughtBy: 'test/session/servers/server-list.test.ts',
    from: "if (chroot !== '' && chroot !== this.root.prefix)",
    to: "if (chroot !== '' && this.root.prefix === '')",
  },
  {
    ...client,
    bug: 'a closed view sends calls nevertheless',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
    from: 'if (isClosed) return Promise.reject(closed(call.op.method, call.path))',
    to: '',
  },
  {
    ...config,
    caughtBy: 'test/client/ensemble-config.test.ts',
    bug: 'a server that listens on all addresses is dialled at 0.0.0.0',
    from: "bare !== '0.0.0.0' && ",
    to: '',
  },
  {
    ...config,
    caughtBy: 'test/client/ensemble-config.test.ts',
    bug: 'the version of a configuration is read as a decimal number',
    from: 'BigInt(`0x${version}`)',
    to: 'BigInt(version)',
  },
  {
    bug: 'a server without a client port is treated as removed, and its clients leave it',
    file: 'src/client/reconfig-following.ts',
    caughtBy: 'test/client/reconfig-following.test.ts',
    from: 'named.length === servers.length',
    to: 'named.length > 0',
  },
  {
    ...connect,
    bug: 'a connect() that has timed out goes on connecting',
    from: 'reject(reason)\n      session.destroy()',
    to: 'reject(reason)',
  },
  {
    ...connect,
    bug: 'the timer of connect() closes the session later',
    from: 'clock.clearTimeout(timer)\n',
    to: '',
  },
  {
    ...multi,
    bug: 'the error of a multi names the first operation, not the one that failed',
    from: 'errno !== 0 && errno !== errnos.RUNTIMEINCONSISTENCY',
    to: 'errno !== 0 || errno !== errnos.RUNTIMEINCONSISTENCY',
  },
  {
    ...multi,
    caughtBy: 'test/client/multi.test.ts',
    bug: 'of an operation with two kinds only one is sent, perhaps without its check',
    from: '(paths[kind] as unknown) !== undefined).length !== 1',
    to: '(paths[kind] as unknown) !== undefined).length < 1',
  },
  {
    ...multi,
    caughtBy: 'test/client/multi.test.ts',
    bug: 'a deletion in a multi ignores its version',
    from: 'type: opcodes.delete, body: { path, version: op.version ?? -1 }',
    to: 'type: opcodes.delete, body: { path, version: -1 }',
  },
  {
    ...multi,
    bug: 'a reply with too few results resolves a multi',
    caughtBy: 'test/client/multi.test.ts',
    from: 'if (reply.length !== ops.length) throw',
    to: 'if (reply.length > ops.length) throw',
  },
  {
    bug: 'the results of a multiRead are given to the wrong reads',
    file: 'src/client/multi-read.ts',
    caughtBy: 'test/client/operations.test.ts',
    from: 'const op = ops[i] as ReadOp',
    to: 'const op = ops[0] as ReadOp',
  },
  {
    ...operations,
    bug: 'a write without a version is refused if the node has changed before',
    caughtBy: 'test/client/real-server.test.ts',
    from: `const { version = -1, signal } = options
    const body = { path: this.root.add(path), data, version }`,
    to: `const { version = 0, signal } = options
    const body = { path: this.root.add(path), data, version }`,
  },
  {
    ...operations,
    caughtBy: 'test/client/create.test.ts',
    bug: 'a create with parents whose reply was lost is sent again',
    from: "if (!(error instanceof ZooKeeperError) || error.code !== 'NONODE' || error.fate !== 'refused') throw error",
    to: "if (!(error instanceof ZooKeeperError) || error.code === 'NODEEXISTS') throw error",
  },
  {
    ...operations,
    bug: 'a multi changes if the caller changes the list after the call',
    caughtBy: 'test/client/multi.test.ts',
    from: 'const given: readonly MultiOp[] = [...ops]',
    to: 'const given: readonly MultiOp[] = ops',
  },
  {
    ...recursive,
    bug: 'ensurePath() fails if another client creates the node first',
    caughtBy: 'test/client/real-server.test.ts',
    from: "if (isCode(error, 'NODEEXISTS')) return",
    to: '',
  },
  {
    ...recursive,
    bug: 'ensurePath() fails without the permission to create, although the node exists',
    from: "if (isCode(error, 'NOAUTH') && (await client.retry(() => isThere(client, path, signal), { signal }))) return",
    to: '',
  },
  {
    ...recursive,
    bug: 'deleteRecursive() fails if another client deletes a child first',
    caughtBy: 'test/client/real-server.test.ts',
    from: "if (isCode(error, 'NONODE')) return",
    to: '',
  },
  {
    ...recursive,
    bug: 'deleteRecursive() rejects while it still deletes',
    from: "(await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected')",
    to: '(await Promise.all(tasks).then(() => undefined, reason => ({ status: "rejected", reason }))) as PromiseRejectedResult | undefined',
  },
  {
    ...recursive,
    bug: 'deleteRecursive() of a large directory exceeds maxPending',
    from: 'const AT_ONCE = 100\n',
    to: 'const AT_ONCE = 1_000_000\n',
  },
  {
    ...states,
    caughtBy: 'test/client/state-iterator.test.ts',
    bug: 'the iterator of the states never ends',
    from: 'if (isTerminal(state)) this.#end()\n    else this.#wake()',
    to: 'this.#wake()',
  },
  {
    ...states,
    caughtBy: 'test/client/state-iterator.test.ts',
    bug: 'an iterator of the states that was left stays registered with the session',
    from: "this.#client.off('state', this.#push)",
    to: '',
  },
  {
    ...transaction,
    bug: 'a transaction is executed twice',
    from: 'if (this.#isCommitted)\n',
    to: 'if (this.#ops.length === 0)\n',
  },
  {
    ...transaction,
    bug: 'a check without a version demands version 0',
    caughtBy: 'test/client/validation.test.ts',
    from: "const { version = -1 } = checked('check'",
    to: "const { version = 0 } = checked('check'",
  },
  {
    ...validation,
    bug: 'a mode with a TTL is accepted without one',
    caughtBy: 'test/client/real-server.test.ts',
    from: 'if (needsTtl && !(',
    to: 'if (needsTtl && ttl !== undefined && !(',
  },
  {
    ...validation,
    bug: 'a version that is not an integer is sent as another version',
    from: '(value: number) => value === (value | 0)',
    to: "(value: number) => typeof value === 'number'",
  },
  {
    ...acl,
    bug: 'a user with a colon gets the id of another user',
    from: "if (user.includes(':'))",
    to: "if (user === ':')",
  },
  {
    ...acl,
    bug: 'the ACL for reading lets everybody write',
    from: "aclOf('world', 'anyone', perms.read)",
    to: "aclOf('world', 'anyone', perms.read | perms.write)",
  },
]
