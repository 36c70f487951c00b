// A read, and a promise of its change.
import { isCode } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client, ReadOptions } from '../../client/index.ts'

export interface WatchedRead<T> {
  value: T
  /** Resolves with the next event, the session's end too: look again. Rejects with the signal's reason. */
  changed: Promise<void>
}

/** Reads with a watch, which the signal takes back. The request is queued before this returns. */
export async function readWatched<T>(
  signal: AbortSignal,
  read: (options: ReadOptions) => Promise<T>,
): Promise<WatchedRead<T>> {
  let wake!: () => void
  let giveUp!: () => void
  const changed = new Promise<void>((resolve, reject) => {
    wake = resolve
    giveUp = () => reject(signal.reason as Error)
  })
  // Nobody may be waiting for it (yet).
  changed.catch(() => undefined)
  const stopListening = onAbort(signal, giveUp)
  try {
    const watch = () => {
      stopListening()
      wake()
    }
    return { value: await read({ watch, signal }), changed }
  } catch (error) {
    stopListening()
    throw error
  }
}

/**
 * Waits for the next event of a node, which is its end for the most part; at once where there is no such node. It asks by getData: exists
 * would leave a watch behind on a node that is gone already.
 * @returns false where there is no such node
 */
export async function nextChange(client: Client, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { changed } = await readWatched(signal, options => client.getData(path, options))
    await changed
    return true
  } catch (error) {
    if (!isCode(error, 'NONODE')) throw error
    return false
  }
}
