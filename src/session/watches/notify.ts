// Calls the callbacks of one-shot watches with an event.
import type { State } from '../life/states.ts'
import type { Watch } from './one-shot-watches.ts'
import { watchEvent, type WatchEvent } from './watch-event.ts'

interface Callbacks {
  later<T>(callback: (value: T) => unknown, value: T): void
}

interface Event {
  type: WatchEvent['type']
  state: State
  zxid?: bigint
}

/**
 * Calls each callback once, even if several of the watches have the same callback: for example, one on the data and one
 * on the existence of the path.
 */
export function notify(callbacks: Callbacks, watches: readonly Watch[], { type, state, zxid }: Event): void {
  const called = watches.length > 1 ? new Set<Watch['callback']>() : undefined
  for (const watch of watches) {
    const { callback, path } = watch
    if (called?.has(callback)) continue
    called?.add(callback)
    callbacks.later(callback, watchEvent(type, state, path, zxid))
  }
}

/** Notifies watches of many paths. A callback is called once for each of its paths. */
export function notifyByPath(callbacks: Callbacks, watches: readonly Watch[], event: Event): void {
  const byPath = new Map<string, Watch[]>()
  for (const watch of watches) {
    const some = byPath.get(watch.serverPath)
    if (some === undefined) byPath.set(watch.serverPath, [watch])
    else some.push(watch)
  }
  for (const some of byPath.values()) notify(callbacks, some, event)
}
