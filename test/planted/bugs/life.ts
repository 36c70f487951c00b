// Bugs of the session's life: lease, states, heartbeat, identity, credentials, the end of the session.
import type { PlantedBug } from '../planted-bug.ts'

const lease = { file: 'src/session/life/lease.ts', caughtBy: 'test/session/life/lease.test.ts' }
const states = { file: 'src/session/life/states.ts', caughtBy: 'test/session/life/states.test.ts' }
const heartbeat = { file: 'src/session/heartbeat.ts', caughtBy: 'test/session/life/liveness.test.ts' }
const identity = { file: 'src/session/life/identity.ts', caughtBy: 'test/session/servers/read-only.test.ts' }
const credentials = { file: 'src/session/life/credentials.ts', caughtBy: 'test/session/life/credentials.test.ts' }
const mechanism = { file: 'src/session/life/sasl.ts', caughtBy: 'test/sasl/hostile-server.test.ts' }
const session = { file: 'src/session/session.ts', caughtBy: 'test/session/life/close.test.ts' }
const background = { file: 'src/session/background.ts', caughtBy: 'test/session/background.test.ts' }
const diagnostics = { file: 'src/session/diagnostics.ts', caughtBy: 'test/session/diagnostics.test.ts' }

export const life: readonly PlantedBug[] = [
  {
    ...lease,
    bug: 'the lease does not notice that the machine was suspended, because it reads one clock only',
    from: 'timeout - Math.max(now - since.now, wall - since.wall)',
    to: 'timeout - (now - since.now)',
  },
  {
    ...lease,
    bug: 'the lease ends if the wall clock is set back',
    from: 'timeout - Math.max(now - since.now, wall - since.wall)',
    to: 'timeout - Math.abs(wall - since.wall)',
  },
  {
    ...lease,
    bug: 'a late reply to an early packet shortens the lease',
    from: 'sentAt.now <= this.#since.now',
    to: 'false',
  },
  {
    ...lease,
    bug: 'a renewed lease keeps the aborted signal of the expired one',
    from: 'if (this.expired) this.#lost = undefined',
    to: '',
  },
  {
    ...lease,
    bug: 'a renewed lease expires at the time of its first end',
    from: 'if (!this.expired) this.#schedule()',
    to: 'this.#abort(() => new Error())',
  },
  {
    ...states,
    bug: 'an expired session becomes connected again',
    from: 'expired: [],',
    to: 'expired: fromDisconnected,',
  },
  {
    ...states,
    bug: 'a listener is called once more after it was removed',
    from: 'this.#listeners?.has(listener) === true ? listener(state, previous) : undefined',
    to: 'listener(state, previous)',
  },
  {
    ...heartbeat,
    bug: 'an idle session expires, because pings are sent too rarely',
    from: 'const PING_SHARE = 0.3',
    to: 'const PING_SHARE = 0.9',
  },
  {
    ...heartbeat,
    bug: 'a stall of the process ends a connection whose reply is already in the socket buffer',
    from: 'if (this.#suspicion === missing)',
    to: 'if (this.#suspicion !== missing)',
  },
  {
    ...heartbeat,
    bug: 'a server that sends events and answers nothing is never given up',
    from: 'if (isSilent || now >= unansweredUntil)',
    to: 'if (isSilent)',
  },
  {
    ...heartbeat,
    bug: 'a stall of the process ends an idle connection before a ping could be answered',
    from: 'Math.max(this.#lastReceived + (this.#timeout * 2) / 3, oldestSentAt + this.#timeout / 3)',
    to: 'this.#lastReceived + (this.#timeout * 2) / 3',
  },
  {
    ...heartbeat,
    bug: 'a busy client never gives up a server that answers nothing, because requests replace its pings',
    from: 'Math.min(this.#pings[0]?.now ?? Infinity, this.#owner.oldestRequestSentAt)',
    to: 'this.#pings[0]?.now ?? Infinity',
  },
  {
    ...heartbeat,
    bug: 'the answer to an early ping extends the lease from the latest ping',
    from: 'this.#pings.shift()',
    to: 'this.#pings.pop()',
  },
  {
    ...heartbeat,
    bug: 'the signal of an expired lease aborts only when the next ping is due',
    from: 'this.#lastSent + this.#timeout * PING_SHARE, now + leaseCheckIn)',
    to: 'this.#lastSent + this.#timeout * PING_SHARE)',
  },
  {
    ...identity,
    caughtBy: 'test/session/hostile-server.test.ts',
    bug: 'a session that the server exchanged for another one is adopted silently',
    from: 'timeOut <= 0 || (this.#isOfQuorum && this.id !== sessionId)',
    to: 'timeOut <= 0',
  },
  {
    ...identity,
    bug: 'a read-only server extends the lease of a session that the quorum may expire meanwhile',
    from: '!(readOnly && this.#isOfQuorum)',
    to: 'true',
  },
  {
    ...identity,
    bug: 'a session that a read-only server invented is offered to the quorum, which reports it as expired',
    from: 'return this.#isOfQuorum ?',
    to: 'return this.id !== 0n ?',
  },
  {
    ...identity,
    bug: 'a read-only server that does not know the session ends it',
    from: 'isGone && readOnly && !isPresumedLost',
    to: 'isGone && readOnly && isPresumedLost',
  },
  {
    ...identity,
    bug: 'a client that did not ask for it is connected to a read-only server',
    from: 'if (readOnly && !this.#acceptsReadOnly)',
    to: 'if (readOnly && this.#acceptsReadOnly && !this.#isOfQuorum)',
  },
  {
    ...credentials,
    bug: 'addAuth() resolves after a reconnect before the server has accepted its credential',
    from: 'this.#unanswered = []',
    to: '',
  },
  {
    ...credentials,
    bug: 'a credential whose sending was cut off is reported as not sent',
    from: "fate: wasSent ? 'unknown' : 'notSent'",
    to: "fate: 'notSent'",
  },
  {
    ...credentials,
    bug: 'a credential that addAuth() rejected is sent on the next connection nevertheless',
    from: 'this.#entries = this.#entries.filter(({ caller }) => caller === undefined)',
    to: '',
  },
  {
    ...credentials,
    caughtBy: 'test/session/life/auth.test.ts',
    bug: 'a password with half a surrogate pair is sent as another password',
    from: "if (!scheme.isWellFormed() || (typeof auth === 'string' && !auth.isWellFormed()))",
    to: 'if (!scheme.isWellFormed())',
  },
  {
    ...mechanism,
    caughtBy: 'test/sasl/real-server.test.ts',
    bug: 'a client goes on without authentication if the server is not set up for SASL',
    from: "throw new Error('the server is not set up for SASL')",
    to: 'return undefined',
  },
  {
    ...session,
    caughtBy: 'test/session/life/auth.test.ts',
    bug: 'credentials are not sent again on the next connection',
    from: 'this.#credentials?.resend(connection)',
    to: '',
  },
  {
    ...session,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'a notification advances the last zxid, so a reconnect loses the other events of the same multi',
    from: 'this.diagnostics.onEvent(event)',
    to: 'this.diagnostics.onEvent(event)\n    if (zxid > this.#lastZxid) this.#lastZxid = zxid',
  },
  {
    ...session,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'queued reads overtake the watches that are set again after a reconnect',
    from: 'this.watches.setAgain(connection, this.#lastZxid, state)\n    this.requests.sendQueued(connection)\n',
    to: 'this.requests.sendQueued(connection)\n    this.watches.setAgain(connection, this.#lastZxid, state)\n',
  },
  {
    ...session,
    caughtBy: 'test/session/life/liveness.test.ts',
    bug: 'leaseSignal is not aborted after a stall of the process that outlived the lease',
    from: 'this.checkLease()\n    return this.#lease.signal',
    to: 'return this.#lease.signal',
  },
  {
    ...session,
    caughtBy: 'test/sasl/hostile-server.test.ts',
    bug: 'a connection that is lost during SASL ends the session as authFailed',
    from: 'if (this.#connection !== connection) return',
    to: '',
  },
  {
    ...session,
    caughtBy: 'test/session/life/credentials.test.ts',
    bug: 'calls wait for ever if the connection is lost after the end of the lease',
    from: 'if (this.#lease.expired) this.onLeaseExpired()',
    to: '',
  },
  {
    ...session,
    bug: 'a lock still counts as held while the session is being closed',
    from: "this.#lease.end(() => new ZooKeeperError('CLOSED', { fate: 'notSent' }))",
    to: '',
  },
  {
    ...session,
    bug: 'close() waits for a server until the session has expired',
    from: 'if (!isTerminal(this.state)) this.#closeWithin(timeout)',
    to: 'if (!isTerminal(this.state)) this.#closeWithin(this.#timeout)',
  },
  {
    ...session,
    bug: 'addAuth() hangs when the session ends',
    from: 'this.#credentials?.end(code)',
    to: '',
    caughtBy: 'test/session/life/credentials.test.ts',
  },
  {
    ...session,
    caughtBy: 'test/session/watches/watch-manager.test.ts',
    bug: 'watches are not told of the end of the session',
    from: 'this.watches.end()',
    to: '',
  },
  {
    ...session,
    bug: 'a closed session goes on connecting',
    from: 'this.hosts.end()',
    to: '',
  },
  {
    ...session,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'after a slow handshake a ping leaves before the credentials, and the server closes the connection',
    from: 'this.#credentials?.resend(connection)\n',
    to: 'connection.startHeartbeat()\n    this.#credentials?.resend(connection)\n',
  },
  {
    ...background,
    bug: 'settled() resolves before work that was started meanwhile has ended',
    from: 'while (this.#running',
    to: 'if (this.#running',
  },
  {
    ...diagnostics,
    bug: 'replies are counted only while a channel has a subscriber',
    from: 'this.#replies++\n    if (!channels.request.hasSubscribers) return',
    to: 'if (!channels.request.hasSubscribers) return\n    this.#replies++',
  },
]
