// Bugs of the embedded server: undo, order, ensembles.
import type { BugsOfFile } from '../planted-bug.ts'

export const server: readonly BugsOfFile[] = [
  {
    file: 'src/server/connection/connection.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'a session that moves to a new connection keeps the old one too',
        from: 'this.#server.connectionOf(sessionId)?.close()',
        to: '',
      },
      { bug: 'the watches of a closed connection stay', from: 'this.#server.database.watches.forget(this)', to: '' },
    ],
  },
  {
    file: 'src/server/ensemble/leading.ts',
    caughtBy: 'test/server/ensemble-failures.test.ts',
    bugs: [
      {
        bug: 'a new leader continues with the zxids of the old epoch',
        from: 'this.#leader.database.startAfter(zxid)',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/ensemble/peer.ts',
    caughtBy: 'test/server/ensemble-failures.test.ts',
    bugs: [
      {
        bug: 'a server with a new leader keeps the sessions that it made as a read-only server',
        from: 'this.#readOnly.close()',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/ensemble/following.ts',
    caughtBy: 'test/server/ensemble-sessions.test.ts',
    bugs: [
      {
        bug: 'a follower does not tell the leader which sessions it has served',
        from: 'sessions: [...peer.touched]',
        to: 'sessions: []',
      },
    ],
  },
  {
    file: 'src/server/ensemble/following.ts',
    caughtBy: 'test/server/elections.test.ts',
    bugs: [
      {
        bug: 'a server keeps the writes that no server of the new majority has logged',
        from: 'return peer.log.truncate(content.zxid)',
        to: 'return',
      },
      {
        bug: 'a server serves clients before it has what the others have committed',
        from: 'peer.applyUpTo(content.zxid)\n        return peer.serve',
        to: 'return peer.serve',
      },
    ],
  },
  {
    file: 'src/server/ensemble/leading.ts',
    caughtBy: 'test/server/ensemble-sessions.test.ts',
    bugs: [
      {
        bug: 'a session that moves waits until its write is committed',
        from: 'this.#reply(server, { session: id, cxid: 0 }, err, session?.timeout)',
        to: 'if (this.#committed >= this.#peer.log.last) this.#reply(server, { session: id, cxid: 0 }, err, session?.timeout)',
      },
    ],
  },
  {
    file: 'src/server/control/fault-plan.ts',
    caughtBy: 'test/server/transactions-and-close.test.ts',
    bugs: [
      { bug: 'a delayed reply that was released keeps its timer', from: 'this.#clock.clearTimeout(timer)', to: '' },
    ],
  },
  {
    file: 'src/server/connection/inbox.ts',
    caughtBy: 'test/server/control.test.ts',
    bugs: [
      {
        bug: 'the requests received during a pause are lost',
        from: 'for (const chunk of chunks) this.received(chunk)',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/ensemble/leader-server.ts',
    caughtBy: 'test/server/stop-and-start.test.ts',
    bugs: [
      {
        bug: 'sessions expire as soon as a stopped server starts again',
        from: 'for (const session of this.sessions.all) this.sessions.touch(session)',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/ensemble/leader-server.ts',
    caughtBy: 'test/server/transactions-and-close.test.ts',
    bugs: [
      {
        bug: 'an error of the callback onTransaction undoes half of a transaction',
        from: '    queueMicrotask(() => {\n      throw error\n    })',
        to: '    throw error',
      },
    ],
  },
  {
    file: 'src/server/ensemble/leader-server.ts',
    caughtBy: 'test/server/virtual-time.test.ts',
    bugs: [
      {
        bug: 'a paused server expires sessions',
        from: '    this.#isPaused = true\n    this.sessions.pauseExpiry()',
        to: '    this.#isPaused = true',
      },
    ],
  },
  {
    file: 'src/server/connection/outbox.ts',
    caughtBy: 'test/server/faults.test.ts',
    bugs: [
      {
        bug: 'a released reply overtakes one that is held before it',
        from: 'while (this.#holds[0]?.isActive === false) this.#holds.shift()',
        to: 'while (this.#holds.some(({ isActive }) => !isActive)) this.#holds.splice(this.#holds.findIndex(({ isActive }) => !isActive), 1)[0]',
      },
    ],
  },
  {
    file: 'src/server/ensemble/peer.ts',
    caughtBy: 'test/server/ensemble-sessions.test.ts',
    bugs: [
      {
        bug: 'a follower keeps the connection of a session that has ended',
        from: 'this.core.onSessionEnded(session)',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/database/reads.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'exists() sets no watch on a node that does not exist',
        from: "  if (watch) watches.data.add(path, watcher, 'once')\n  return { stat: statOf(tree.get(path)) }",
        to: "  const stat = statOf(tree.get(path))\n  if (watch) watches.data.add(path, watcher, 'once')\n  return { stat }",
      },
    ],
  },
  {
    file: 'src/server/server.ts',
    caughtBy: 'test/server/ensemble-control.test.ts',
    bugs: [
      {
        bug: 'a server that cannot listen leaves the others open',
        from: 'await Promise.all(endpoints.map(endpoint => endpoint.close()))\n      throw',
        to: 'throw',
      },
    ],
  },
  {
    file: 'src/server/database/sessions.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'a session that reconnects keeps its old timeout',
        from: '    this.#negotiate(session, timeout)\n    return session\n  }\n\n  /** Postpones',
        to: '    this.touch(session)\n    return session\n  }\n\n  /** Postpones',
      },
    ],
  },
  {
    file: 'src/server/control/snapshot.ts',
    caughtBy: 'test/server/control.test.ts',
    bugs: [
      {
        bug: 'a test that changes a snapshot changes the server',
        from: 'node.data && Buffer.from(node.data)',
        to: 'node.data',
      },
    ],
  },
  {
    file: 'src/server/ensemble/standalone.ts',
    caughtBy: 'test/server/virtual-time.test.ts',
    bugs: [
      {
        bug: 'resume() expires sessions before it executes the requests that kept them alive',
        from: '    this.core.resume()\n    this.leader.resume()',
        to: '    this.leader.resume()\n    this.core.resume()',
      },
    ],
  },
  {
    file: 'src/server/database/transaction.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [{ bug: 'a rejected multi sends the events of its operations', from: 'this.#changes.length = 0', to: '' }],
  },
  {
    file: 'src/server/database/tree.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'a rejected multi leaves the counter of its parent increased',
        from: 'Object.assign(parent, { created, pzxid })',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/database/tree.ts',
    caughtBy: 'test/server/control.test.ts',
    bugs: [
      {
        bug: 'the ephemeral nodes of an ended session stay',
        from: 'for (const path of this.ephemeralsOf(session)) this.delete(tx, path)',
        to: '',
      },
    ],
  },
  {
    file: 'src/server/database/watches.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'a session that watches the data and the children of a node gets two events for its deletion',
        from: 'path, acl, zxid, notified)',
        to: 'path, acl, zxid)',
      },
    ],
  },
  {
    file: 'src/server/database/writes.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bugs: [
      {
        bug: 'a multi that is rejected keeps the changes before the failed operation',
        from: 'context.tx.rollBack(errs)',
        to: '',
      },
      {
        bug: 'the right to delete a node depends on its own ACL and not on that of its parent',
        from: 'requirePermission(tree.get(parentPath).acl, perms.delete, identities)\n  const node = tree.get(path)',
        to: 'const node = tree.get(path)\n  requirePermission(node.acl, perms.delete, identities)',
      },
    ],
  },
]
