// Bugs of requests: limits, order, fates, the queue, the substitutes for operations that a server lacks.
import type { PlantedBug } from '../planted-bug.ts'

const requests = { file: 'src/session/requests/requests.ts', caughtBy: 'test/session/requests/limits.test.ts' }
const request = { file: 'src/session/requests/request.ts', caughtBy: 'test/session/requests/request.test.ts' }
const backlog = { file: 'src/session/requests/backlog.ts', caughtBy: 'test/session/requests/backlog.test.ts' }
const inflight = { file: 'src/session/requests/inflight.ts', caughtBy: 'test/session/requests/inflight.test.ts' }
const serverVersion = { file: 'src/session/requests/server-version.ts', caughtBy: 'test/client/old-servers.test.ts' }

export const requestBugs: readonly PlantedBug[] = [
  {
    bug: 'a server that refuses at once is asked again without a pause',
    file: 'src/client/pace.ts',
    from: 'this.#rounds > FREE_ROUNDS)',
    to: 'this.#rounds > 1e9)',
    caughtBy: 'test/faults/refusals.test.ts',
  },
  {
    ...requests,
    bug: 'a call is sent although its signal has aborted already',
    caughtBy: 'test/client/interface.test.ts',
    from: 'if (call.signal?.aborted) this.#rejectUnsent(request, call.signal.reason)\n    else if',
    to: 'if',
  },
  {
    ...requests,
    bug: 'one more request than maxPending is accepted',
    from: 'this.#pending >= this.#limits.maxPending',
    to: 'this.#pending > this.#limits.maxPending',
  },
  {
    ...requests,
    bug: 'a watch stays at the server, because its removal exceeds maxPending',
    from: ' && op !== operations.removeWatches',
    to: '',
  },
  {
    ...requests,
    bug: 'maxPending is reached for ever after calls were lost with their connection',
    from: 'this.#pending--\n    this.#untrackWatch(request)',
    to: 'this.#untrackWatch(request)',
  },
  {
    ...requests,
    bug: 'a call overtakes those that wait in the queue',
    caughtBy: 'test/client/old-servers.test.ts',
    from: 'this.#backlog?.isEmpty === false || ',
    to: '',
  },
  {
    ...requests,
    bug: 'a write that a server may have executed before it closed the connection is reported as not sent',
    caughtBy: 'test/session/requests/server-version.test.ts',
    from: 'request === unknown ? request.fallBack() : !request.call.op.isWrite',
    to: 'request === unknown ? request.fallBack() : true',
  },
  {
    ...requests,
    bug: 'a watch of another caller stays at the server after a read that failed',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
    from: 'if (!isDone) this.#untrackWatch(request)',
    to: '',
  },
  {
    ...requests,
    bug: 'a queued request is sent although its caller has aborted',
    caughtBy: 'test/session/watches/cancelled-watches.test.ts',
    from: 'if (this.#backlog?.remove(request) === true) this.#forget(request)\n    else if',
    to: 'if',
  },
  {
    ...requests,
    bug: 'a request that never left the queue is reported as possibly executed',
    caughtBy: 'test/session/life/liveness.test.ts',
    from: "request.fail(code, 'notSent', { cause: this.#owner.lastCause })",
    to: "request.fail(code, 'unknown', { cause: this.#owner.lastCause })",
  },
  {
    ...requests,
    bug: 'a one-shot watch ends the persistent watch on its path at servers before 3.9',
    caughtBy: 'test/session/watches/watchers.test.ts',
    from: '!this.#owner.watches.isServedByPersistent(call.watch.serverPath)',
    to: 'true',
  },
  {
    ...request,
    bug: 'a write that the server may still execute is reported as refused',
    from: "['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'REQUESTTIMEOUT']",
    to: "['CONNECTIONLOSS', 'OPERATIONTIMEOUT']",
  },
  {
    ...request,
    bug: 'an event in the frame after the reply finds no watch, because the watch is armed too late',
    caughtBy: 'test/session/requests/order.test.ts',
    from: 'watches.arm(kind, watch, !this.settled)',
    to: 'const isWanted = !this.settled\n      void Promise.resolve().then(() => watches.arm(kind, watch, isWanted))',
  },
  {
    ...request,
    bug: 'exists() of a present node misses the deletion that happens during a reconnect',
    caughtBy: 'test/session/watches/watch-manager.test.ts',
    from: "op.watch === 'exist' && !isExpected ? 'data' : op.watch",
    to: 'op.watch',
  },
  {
    ...request,
    bug: 'after two billion requests the xids become negative, and replies are taken for events',
    from: 'xid === 0x7fff_ffff ? 1 : xid + 1',
    to: '(xid + 1) | 0',
  },
  {
    ...request,
    bug: 'a settled request keeps its listener on the signal, which lives longer',
    from: 'this.#stopListening?.()\n',
    to: '',
  },
  {
    ...backlog,
    bug: 'a caller that reuses its bytes changes a queued write',
    from: 'encodeAhead(request, maxRequestBytes)\n    this.#requests.add(request)',
    to: 'this.#requests.add(request)',
  },
  {
    ...backlog,
    bug: 'requests that are sent again are sent after later ones',
    caughtBy: 'test/client/old-servers.test.ts',
    from: '[...requests, ...this.#requests]',
    to: '[...this.#requests, ...requests]',
  },
  {
    ...inflight,
    bug: 'replies settle the wrong requests after the ring has grown',
    from: '[...this.#ring.slice(this.#head), ...this.#ring.slice(0, this.#head)]',
    to: '[...this.#ring]',
  },
  {
    ...serverVersion,
    bug: 'a server that was upgraded is never asked again for the operation that it lacked',
    from: 'now - createdAt >= LIFETIME',
    to: 'createdAt - now >= LIFETIME',
  },
]
