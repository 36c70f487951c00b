// Bugs of the embedded ensemble: replication, elections, sessions that move.
import type { PlantedBug } from '../planted-bug.ts'

const ensemble = 'test/server/ensemble.test.ts'
const failures = 'test/server/ensemble-failures.test.ts'
const inSessions = 'test/server/ensemble-sessions.test.ts'
const replication = { file: 'src/server/replication.ts', caughtBy: ensemble }
const elections = { file: 'src/server/elections.ts', caughtBy: failures }

export const serverEnsemble: readonly PlantedBug[] = [
  {
    ...replication,
    bug: 'a follower replies to a write before it has applied it',
    from: 'if (last > before) wait()',
    to: "if (last > before) network.fromLeader(peer, 'reply', () => done(result))",
  },
  {
    ...replication,
    bug: 'the leader commits what only itself has logged',
    from: 'followers.map(({ acknowledged }) => acknowledged)], majority)',
    to: 'followers.map(({ acknowledged }) => acknowledged)], 1)',
  },
  {
    ...replication,
    bug: 'a write that no server of the new majority has logged keeps its effect',
    from: 'this.log.rollBackTo(kept)',
    to: '',
    caughtBy: failures,
  },
  {
    ...replication,
    bug: 'a write that a server of the new majority has logged is lost',
    from: 'Math.max(this.#committed, ...servers.map(({ logged }) => logged))',
    to: 'this.#committed',
    caughtBy: failures,
  },
  {
    ...replication,
    bug: 'a server serves clients before it has what the others have committed',
    from: 'peer.applyUpTo(this.#committed)\n    peer.logged',
    to: 'peer.logged',
    caughtBy: failures,
  },
  {
    file: 'src/server/network.ts',
    caughtBy: ensemble,
    bug: 'a lag delays messages in one direction only',
    from: 'peer.fromLeader.send(delivered)',
    to: 'if (peer.lag > 0) delivered()\n    else peer.fromLeader.send(delivered)',
  },
  {
    file: 'src/server/channel.ts',
    caughtBy: failures,
    bug: 'messages pass a network that is cut',
    from: '!this.#route.isCut()',
    to: 'next.deliver !== undefined',
  },
  {
    file: 'src/server/channel.ts',
    caughtBy: ensemble,
    bug: 'a lag that ends does not deliver what is on its way',
    from: 'next.sentAt + this.#route.delay() - this.#clock.now()',
    to: '(next.sentAt += this.#route.delay(), this.#route.delay()) - this.#clock.now() + next.sentAt - this.#route.delay()',
  },
  {
    ...elections,
    bug: 'a follower that is cut off serves reads for ever',
    from: "return peer.state === 'follower' && silence >= syncLimit * tickTime",
    to: 'return false',
  },
  {
    ...elections,
    bug: 'a leader without a majority leads for ever',
    from: "if (peer.state === 'leader') return",
    to: "if (peer.state === 'leader') return false &&",
  },
  {
    ...elections,
    bug: 'a minority elects a leader',
    from: 'voters.length >= majority',
    to: 'voters.length >= 1',
  },
  {
    ...elections,
    bug: 'a new leader continues with the zxids of the old epoch',
    from: 'this.#leader.database.startAfter(zxid)',
    to: '',
  },
  {
    ...elections,
    bug: 'a follower does not tell the leader which sessions it has served',
    from: 'const touched = [...peer.touched]',
    to: 'const touched: Parameters<typeof sessions.touch>[0][] = []',
    caughtBy: inSessions,
  },
  {
    ...elections,
    bug: 'a server with a new leader keeps the sessions that it made as a read-only server',
    from: 'this.#readOnlyRoles.get(peer)?.close()',
    to: '',
  },
  {
    file: 'src/server/ensemble.ts',
    caughtBy: inSessions,
    bug: 'a write through the server that a session has left is executed',
    from: 'return session.owner === peer ?',
    to: 'return peer ?',
  },
  {
    file: 'src/server/ensemble.ts',
    caughtBy: inSessions,
    bug: 'a session that moves waits until its write is committed',
    from: "      this.#network.fromLeader(peer, 'reply', () => done(session))",
    to: "      this.#network.fromLeader(peer, 'reply', () => peer.whenApplied(this.log.last, () => done(session)))",
  },
  {
    file: 'src/server/peer.ts',
    caughtBy: inSessions,
    bug: 'a follower keeps the connection of a session that has ended',
    from: 'this.core.onSessionEnded(cause.session)',
    to: '',
  },
  {
    file: 'src/server/read-only.ts',
    caughtBy: failures,
    bug: 'a read-only server executes writes',
    from: "kind === 'read' || kind === 'close' ?",
    to: "kind === 'read' || kind ?",
  },
  {
    file: 'src/server/read-only.ts',
    caughtBy: failures,
    bug: 'a read-only server tells a session of the ensemble that it has expired',
    from: '!acceptsReadOnly || this.#isGlobal(sessionId)',
    to: '!acceptsReadOnly',
  },
  {
    file: 'src/server/request-order.ts',
    caughtBy: ensemble,
    bug: 'a read overtakes the write before it',
    from: 'if (this.isEmpty) task()',
    to: 'if (this.isEmpty || !this.isFull) task()',
  },
  {
    file: 'src/server/leader.ts',
    caughtBy: failures,
    bug: 'a session that only a leader without a majority has ended stays ended',
    from: 'tx.record(() => this.sessions.revive(session))',
    to: '',
  },
  {
    file: 'src/server/ensemble.ts',
    caughtBy: 'test/server/ensemble-control.test.ts',
    bug: 'an ensemble that resumes has forgotten that it was paused as a whole, and elects a leader',
    from: 'peer.heardAt = peer.answeredAt = now',
    to: '',
  },
  {
    file: 'src/server/server.ts',
    caughtBy: 'test/server/ensemble-control.test.ts',
    bug: 'a server that cannot listen leaves the others open',
    from: 'await Promise.all(endpoints.map(endpoint => endpoint.close()))\n      throw',
    to: 'throw',
  },
  {
    file: 'src/server/ensemble.ts',
    caughtBy: 'test/server/ensemble-control.test.ts',
    bug: 'only the leader starts with the nodes of the file',
    from: 'if (state !== undefined) restoreState({ database,',
    to: 'if (state === null) restoreState({ database,',
  },
  {
    file: 'src/server/leader.ts',
    caughtBy: ensemble,
    bug: 'the periodic check deletes an empty container at the leader only, until the next write',
    from: 'if (!this.#isPaused) this.#owner.checkContainers()',
    to: 'if (!this.#isPaused) this.checkContainers()',
  },
]
