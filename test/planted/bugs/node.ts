// Bugs of one node of a recipe: create, find again, watch, remove.
import type { PlantedBug } from '../planted-bug.ts'

const ownNode = { file: 'src/recipes/node/own-node.ts', caughtBy: 'test/recipes/node/own-node.test.ts' }
const cancellable = { file: 'src/recipes/node/cancellable.ts', caughtBy: 'test/recipes/locks/exclusive-locks.test.ts' }
const retry = { file: 'src/recipes/node/retry-until-done.ts', caughtBy: 'test/recipes/clean-up.test.ts' }

export const node: readonly PlantedBug[] = [
  {
    ...ownNode,
    bug: 'release() resolves with the node still there if the connection is lost',
    from: "if (!isCode(error, 'NONODE')) throw error",
    to: "if (!isCode(error, 'NONODE', 'CONNECTIONLOSS')) throw error",
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...ownNode,
    bug: 'a node whose create has no reply stays when the call is cancelled',
    from: 'if (this.#isUncertain) await retryUntilDone(client, () => this.#find())',
    to: '',
  },
  {
    ...ownNode,
    bug: 'a release deletes another contender’s node, which has the name of the own one',
    from: 'if (!isThere) return',
    to: '',
    caughtBy: 'test/recipes/locks/ephemeral-mutex.test.ts',
  },
  {
    ...ownNode,
    bug: 'a later node of the same session and name counts as the own one',
    from: 'czxid === this.#node?.czxid && ',
    to: '',
    caughtBy: 'test/recipes/locks/ephemeral-mutex.test.ts',
  },
  {
    ...ownNode,
    bug: 'a node that the server was asked to create, without a reply in time, is not looked for',
    from: "fateOf(error) === 'unknown'",
    to: "isCode(error, 'CONNECTIONLOSS')",
  },
  {
    ...ownNode,
    bug: 'a list that the server made before the node existed decides whose turn it is',
    from: "creation.status === 'fulfilled' && reading",
    to: 'reading',
  },
  {
    ...ownNode,
    bug: 'a release under an ACL without READ leaves the node on servers that refuse exists()',
    from: '(await client.getEphemerals(path)).includes(path)',
    to: 'false',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...ownNode,
    bug: 'a call that is cancelled while there is no connection creates its node after the reconnect',
    from: "if (client.state === 'suspended') await client.whenConnected({ signal })",
    to: '',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
  },
  {
    ...ownNode,
    bug: 'release() rejects if the client is closed meanwhile',
    from: "if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) throw error",
    to: "if (!isCode(error, 'SESSIONEXPIRED')) throw error",
    caughtBy: 'test/recipes/clean-up.test.ts',
  },
  {
    ...ownNode,
    bug: 'release() resolves before the node is deleted if the client is being closed',
    from: 'await whenEnded(client)',
    to: '',
    caughtBy: 'test/recipes/clean-up.test.ts',
  },
  {
    ...cancellable,
    bug: 'a timeout that is longer than a timer can be ends the call at once',
    from: 'timeout <= LONGEST_TIMER',
    to: 'timeout < Infinity',
  },
  {
    ...cancellable,
    bug: 'a call that succeeds leaves the timer of its timeout',
    from: 'clockOf(client).clearTimeout(timer)',
    to: '',
  },
  {
    ...cancellable,
    bug: 'a call whose signal has aborted before still sends requests',
    from: 'signal?.throwIfAborted()',
    to: '',
  },
  {
    ...cancellable,
    bug: 'a signal that many calls share collects their listeners',
    from: '    stopListening()\n',
    to: '',
  },
  {
    ...cancellable,
    bug: 'a cancelled call waits until the server replies',
    from: 'await Promise.race([done, cancelled])',
    to: 'await done',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...cancellable,
    bug: 'a watch that a call still sets when it ends stays at the server',
    from: 'scope.abort(ENDED)',
    to: '',
  },
  {
    file: 'src/recipes/node/read-with-watch.ts',
    caughtBy: 'test/recipes/faults.test.ts',
    bug: 'the watch on the predecessor stays at the server when the wait is cancelled',
    from: 'read({ watch, signal })',
    to: 'read({ watch })',
  },
  {
    ...retry,
    bug: 'the clean-up after a cancelled call ends with the first lost connection',
    from: 'return await client.retry(task, { signal })',
    to: 'return await task()',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...retry,
    bug: 'the clean-up gives up if the server throttles it, and its node blocks all other contenders',
    from: "'THROTTLEDOP', ",
    to: '',
  },
  {
    file: 'src/recipes/node/owner-tag.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bug: 'the uuid of the attempt is returned as the user’s data if the user gave none',
    from: '(?:\\n|$)/',
    to: '\\n/',
  },
  {
    file: 'src/recipes/node/ensure-directory.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bug: 'the nodes above a lock get the lock’s ACL, which keeps other users out',
    from: 'parentOf(path), options)',
    to: 'parentOf(path), { ...options, acl })',
  },
]
