// Bugs of watches: setting them, setting them again after a reconnect, notifications.
import type { PlantedBug } from '../planted-bug.ts'

const setWatches = {
  file: 'src/session/watches/set-watches.ts',
  caughtBy: 'test/session/watches/one-shot-watches.test.ts',
}

export const watches: readonly PlantedBug[] = [
  {
    ...setWatches,
    bug: 'the watches of a session are set again in one request that is too long for the server',
    from: 'bytes > 0 && bytes + size > BATCH_BYTES',
    to: 'bytes < 0',
  },
]
