// Bugs of the embedded server’s sessions and connections.
import type { PlantedBug } from '../planted-bug.ts'

const contract = 'test/contract/contract.test.ts'
const sessions = { file: 'src/server/sessions.ts', caughtBy: 'test/server/virtual-time.test.ts' }
const connection = { file: 'src/server/connection.ts', caughtBy: contract }
const leader = { file: 'src/server/leader.ts', caughtBy: 'test/server/virtual-time.test.ts' }
const standalone = { file: 'src/server/standalone.ts', caughtBy: 'test/server/virtual-time.test.ts' }

export const serverSessions: readonly PlantedBug[] = [
  {
    ...sessions,
    bug: 'a session can be taken over without its password',
    from: 'password?.equals(session.password) !== true',
    to: '(password !== null && !password.equals(session.password))',
    caughtBy: contract,
  },
  {
    ...sessions,
    bug: 'only the first half of a session’s password is compared',
    from: 'password?.equals(session.password) !== true',
    to: 'password?.subarray(0, 8).equals(session.password.subarray(0, 8)) !== true',
    caughtBy: contract,
  },
  {
    ...sessions,
    bug: 'a session expires up to a tick before its timeout',
    from: '/ tickTime) + 1) * tickTime',
    to: '/ tickTime)) * tickTime',
  },
  {
    ...sessions,
    bug: 'a session gets a shorter timeout than the server allows',
    from: 'Math.max(timeout, minSessionTimeout)',
    to: 'timeout',
  },
  {
    ...sessions,
    bug: 'a session expires late if another one with a longer timeout was opened first',
    from: 'at >= this.#timerAt',
    to: 'this.#timer !== undefined',
  },
  {
    ...sessions,
    bug: 'a session that reconnects keeps its old timeout',
    from: '    this.#negotiate(session, timeout)\n    return session\n  }\n\n  /** Postpones',
    to: '    this.touch(session)\n    return session\n  }\n\n  /** Postpones',
    caughtBy: contract,
  },
  {
    ...connection,
    bug: 'a client that has seen a later zxid is accepted, and reads an older state',
    from: 'lastZxidSeen > this.#owner.database.zxid',
    to: 'false',
  },
  {
    ...connection,
    bug: 'a session that moves to a new connection keeps the old one too',
    from: 'this.#owner.connectionOf(sessionId)?.close()',
    to: '',
  },
  {
    ...connection,
    bug: 'a session that may not read a node gets its events',
    from: 'if (!allows(acl, perms.read, this.#identities.all)) return',
    to: '',
  },
  {
    ...connection,
    bug: 'the watches of a closed connection stay',
    from: 'this.#owner.database.watches.forget(this)',
    to: '',
  },
  {
    ...connection,
    bug: 'a request does not keep its session alive',
    from: 'if (!isAuthentication) role.touch(session)',
    to: '',
    caughtBy: 'test/server/virtual-time.test.ts',
  },
  {
    ...connection,
    bug: 'credentials alone keep a session alive',
    from: 'if (!isAuthentication) role.touch(session)',
    to: 'role.touch(session)',
    caughtBy: 'test/server/virtual-time.test.ts',
  },
  {
    ...connection,
    bug: 'the connection stays open after credentials were refused',
    from: ' || (isAuthentication && err !== 0)',
    to: '',
    caughtBy: 'test/server/connection.test.ts',
  },
  {
    ...connection,
    bug: 'the reply to a ping has the xid of its request',
    from: 'type === opcodes.ping ? xids.ping : xid',
    to: 'xid',
  },
  {
    file: 'src/server/handshake.ts',
    caughtBy: contract,
    bug: 'a client from before 3.4 gets a reply that it cannot parse',
    from: 'if (isLegacy)',
    to: 'if (isLegacy && session === undefined)',
  },
  {
    ...connection,
    bug: 'an unknown session is replied to, and its connection stays open for ever',
    from: 'if (session === undefined) this.end()',
    to: 'if (session === undefined) return',
  },
  {
    ...standalone,
    bug: 'resume() expires sessions before it executes the requests that kept them alive',
    from: '    this.core.resume()\n    this.leader.resume()',
    to: '    this.leader.resume()\n    this.core.resume()',
  },
  {
    ...leader,
    bug: 'sessions expire as soon as a stopped server starts again',
    from: 'for (const session of this.sessions.all) this.sessions.touch(session)',
    to: '',
    caughtBy: 'test/server/stop-and-start.test.ts',
  },
  {
    ...leader,
    bug: 'a paused server expires sessions',
    from: '    this.#isPaused = true\n    this.sessions.pauseExpiry()',
    to: '    this.#isPaused = true',
  },
  {
    ...connection,
    bug: 'the server closes the connection of a closing session before it replies',
    from: 'if (!this.#isClosing) this.end()',
    to: 'this.end()',
    caughtBy: contract,
  },
  {
    ...leader,
    bug: 'an error of the callback onTransaction undoes half of a transaction',
    from: '    queueMicrotask(() => {\n      throw error\n    })',
    to: '    throw error',
    caughtBy: 'test/server/transactions-and-close.test.ts',
  },
]
