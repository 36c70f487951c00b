// Bugs of watches: setting them, setting them again after a reconnect, notifications.
import type { PlantedBug } from '../planted-bug.ts'

const setWatches = {
  file: 'src/session/watches/set-watches.ts',
  caughtBy: 'test/session/watches/one-shot-watches.test.ts',
}
const oneShot = {
  file: 'src/session/watches/one-shot-watches.ts',
  caughtBy: 'test/session/watches/one-shot-watches.test.ts',
}
const notify = { file: 'src/session/watches/notify.ts', caughtBy: 'test/session/watches/watch-manager.test.ts' }
const persistent = {
  file: 'src/session/watches/persistent-watches.ts',
  caughtBy: 'test/session/watches/watchers.test.ts',
}
const watcher = { file: 'src/session/watches/watcher.ts', caughtBy: 'test/session/watches/watcher.test.ts' }
const manager = {
  file: 'src/session/watches/watch-manager.ts',
  caughtBy: 'test/session/watches/removed-watches.test.ts',
}
const views = { file: 'src/session/watches/views.ts', caughtBy: 'test/session/watches/removed-watches.test.ts' }

export const watches: readonly PlantedBug[] = [
  {
    ...oneShot,
    bug: 'removeWatches takes the watch at the server that a call of another view is just setting',
    from: 'entry === undefined || (entry.pending === undefined && entry.armed === undefined)',
    to: 'entry?.armed === undefined',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
  },
  {
    ...oneShot,
    bug: 'removeWatches leaves the watch at the server if the call of another view in flight then fails',
    from: 'if (taken.length > 0) entry.removalDeferred = entry.pending !== undefined',
    to: 'if (taken.length > 0) entry.removalDeferred = false',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
  },
  {
    ...setWatches,
    bug: 'the watches of a session are set again in one request that is too long for the server',
    from: 'bytes > 0 && bytes + size > BATCH_BYTES',
    to: 'bytes < 0',
  },
  {
    ...setWatches,
    bug: 'paths in Japanese make a request to set watches again three times too long for the server',
    from: 'Buffer.byteLength(path)',
    to: 'path.length',
  },
  {
    ...setWatches,
    bug: 'watches on absent nodes are not set again after a reconnect',
    caughtBy: 'test/session/watches/watch-manager.test.ts',
    from: 'existWatches: exist,',
    to: 'existWatches: [],',
  },
  {
    ...oneShot,
    bug: 'the deletion of a node does not fire the watch on its children',
    caughtBy: 'test/session/watches/watch-manager.test.ts',
    from: "tables: ['data', 'children'] }",
    to: "tables: ['data'] }",
  },
  {
    ...oneShot,
    bug: 'a one-shot watch fires at every event',
    from: 'const watches = listOf(entry.armed)\n    entry.armed = undefined',
    to: 'const watches = listOf(entry.armed)',
  },
  {
    ...oneShot,
    bug: 'removeWatches() of one view removes the watches of another',
    from: '.filter(watch => watch.owner === owner)',
    to: '',
  },
  {
    ...oneShot,
    bug: 'removeWatches() does not remove the watch of an earlier call in flight',
    from: '[...listOf(entry.armed), ...listOf(entry.pending)]',
    to: '[...listOf(entry.armed)]',
  },
  {
    ...notify,
    bug: 'a callback that was set by two reads of a path is called twice for one event',
    from: 'if (called?.has(callback)) continue',
    to: '',
  },
  {
    ...persistent,
    bug: 'a change of the children is reported twice if another caller watches recursively',
    caughtBy: 'test/session/watches/persistent-watches.test.ts',
    from: 'if (!isOfChildren || !this.isRecursive(serverPath)) deliver',
    to: 'deliver',
  },
  {
    ...persistent,
    bug: 'a plain watch misses changes of the children if another caller watches recursively',
    caughtBy: 'test/client/validation.test.ts',
    from: 'changesChildren(type) && serverPath !== parent && this.isRecursive(parent)',
    to: 'changesChildren(type) && serverPath === parent',
  },
  {
    ...manager,
    bug: 'a session leaves every old server while a persistent watch that no server has confirmed is requested',
    caughtBy: 'test/client/old-servers.test.ts',
    from: 'this.#persistent.hasConfirmed ? operations.setWatches2.since : 0',
    to: 'this.#persistent.isEmpty ? 0 : operations.setWatches2.since',
  },
  {
    ...manager,
    bug: 'a session stays at a server that cannot set its persistent watches again',
    caughtBy: 'test/client/old-servers.test.ts',
    from: 'this.#persistent.hasConfirmed ? operations.setWatches2.since : 0',
    to: '0',
  },
  {
    ...persistent,
    bug: 'a plain watch ends the recursive watch of another caller',
    from: "entry.mode = entry.mode === 'persistentRecursive' ? 'persistentRecursive' : mode",
    to: 'entry.mode = mode',
  },
  {
    ...persistent,
    bug: 'a watcher learns nothing of the events that it missed during a reconnect',
    from: 'subscription.isSet = true',
    to: '',
  },
  {
    ...persistent,
    bug: 'closing a watcher removes at the server what another caller is just adding',
    from: 'entry.subscriptions.size > 0 || entry.pending > 0',
    to: 'entry.subscriptions.size > 0',
    caughtBy: 'test/client/interface.test.ts',
  },
  {
    ...watcher,
    bug: 'a slow reader makes the queue of a watcher grow without limit',
    from: "this.#backlog = [{ type: 'resync', state: event.state, path: this.#path }]",
    to: 'this.#backlog.push(event)',
  },
  {
    ...watcher,
    bug: 'a reader with a full queue does not learn that the session has ended',
    from: "this.#backlog.length < this.#capacity || event.type === 'Session'",
    to: 'this.#backlog.length < this.#capacity',
  },
  {
    ...watcher,
    bug: 'a reader that waits hangs when the watcher is closed',
    from: 'for (const reader of this.#readers.splice(0)) reader(DONE)',
    to: '',
  },
  {
    ...manager,
    bug: 'the server keeps a watch that its caller has cancelled',
    caughtBy: 'test/session/watches/cancelled-watches.test.ts',
    from: 'if (table !== undefined) this.#removeUnused(table, watch.serverPath)',
    to: '',
  },
  {
    ...manager,
    bug: 'a watch cannot be cancelled after its reply',
    caughtBy: 'test/session/watches/cancelled-watches.test.ts',
    from: 'if (signal !== undefined) watch.stopListening = onAbort(signal, () => this.#drop(watch))',
    to: '',
  },
  {
    ...manager,
    bug: 'a watch is set for a view that was closed before the reply',
    from: 'this.#closedViews.add(owner)',
    to: '',
  },
  {
    ...manager,
    bug: 'a watch that was removed before its reply is called nevertheless',
    from: 'if (!this.#oneShot.isPending(table, watch)) return',
    to: '',
  },
  {
    ...manager,
    bug: 'the watches of a closed view stay at the server',
    from: 'for (const watch of owned) this.#drop(watch)',
    to: 'for (const watch of owned) this.#oneShot.disarm(watch)',
  },
  {
    ...views,
    bug: 'closing a view notifies watches that have fired before',
    from: 'if (watch.owner !== undefined) this.#byOwner?.get(watch.owner)?.delete(watch)',
    to: '',
  },
]
