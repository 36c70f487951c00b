// A read with a watch, and a promise of the watch's event.
import { newPace, unlessRefused } from '../../client/recipe-support.ts'
import { inScope, onAbort } from '../../runtime/abort.ts'
import { Condition } from '../../runtime/condition.ts'
import type { Client, ReadOptions, WatchEvent } from '../../client/index.ts'

export interface WatchedRead<T> {
  value: T
  /**
   * Resolves at the next event, which may be the end of the session. The caller should then read again. Rejects with
   * the signal's reason if the signal aborts first.
   */
  changed: Promise<void>
}

/**
 * Reads with a watch. Aborting the signal removes the watch. The request is queued before the function returns.
 * @param onEvent called with the event, before events that follow it
 */
export async function readWatched<T>(
  signal: AbortSignal,
  read: (options: ReadOptions) => Promise<T>,
  onEvent?: (event: WatchEvent) => void,
): Promise<WatchedRead<T>> {
  let resolveChanged!: () => void
  let cancel!: () => void
  const changed = new Promise<void>((resolve, reject) => {
    resolveChanged = resolve
    cancel = () => reject(signal.reason as Error)
  })
  // The caller may await the promise later or never. Its rejection must not be reported as unhandled.
  changed.catch(() => undefined)
  const stopListening = onAbort(signal, cancel)
  try {
    const watch = (event: WatchEvent) => {
      stopListening()
      resolveChanged()
      onEvent?.(event)
    }
    return { value: await read({ watch, signal }), changed }
  } catch (error) {
    stopListening()
    throw error
  }
}

/** A value that was read. `changed` is undefined if the value has changed already: it is then read again, after a pace. */
export interface Seen<T> extends Pick<WatchedRead<T>, 'value'> {
  changed: Promise<void> | undefined
}

/**
 * Reads with a watch, and again after each event, also after lost connections.
 * @param read sends its first request before it returns. Resolves with undefined if there is no value, because it has
 * changed meanwhile: it is then called again
 * @param onRead called with each value that was read; returns true to end
 * @param signal makes the call reject with its reason
 * @param again makes the call read again at once
 */
export async function readRepeatedly<T>(
  client: Client,
  read: (signal: AbortSignal) => Promise<Seen<T> | undefined>,
  onRead: (value: T) => boolean,
  signal: AbortSignal,
  again = new Condition(),
): Promise<void> {
  const pace = newPace(client)
  const round = async (scope: AbortSignal): Promise<boolean> => {
    const seen = await client.retry(() => read(scope), { signal: scope })
    if (seen !== undefined && onRead(seen.value)) return true
    if (seen?.changed === undefined) await pace.wait(scope)
    else await Promise.race([seen.changed, again.wait(scope)])
    return false
  }
  while (!(await inScope([signal], round)));
}

/**
 * Waits for a node's next event, usually its deletion. Reads with getData, because exists would also set a watch if the
 * node does not exist.
 * @returns false, at once, if the node does not exist
 */
export async function nextChange(client: Client, path: string, signal: AbortSignal): Promise<boolean> {
  const read = await unlessRefused(
    readWatched(signal, options => client.getData(path, options)),
    'NONODE',
  )
  await read?.changed
  return read !== undefined
}
