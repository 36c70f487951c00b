// Bugs of the requests and the watches of a session: order, bytes of the caller, watches that stay.
import type { PlantedBug } from '../planted-bug.ts'

export const requests: readonly PlantedBug[] = [
  {
    file: 'src/session/requests/backlog.ts',
    caughtBy: 'test/client/old-servers.test.ts',
    bug: 'requests that are sent again are sent after later ones',
    from: '[...requests, ...this.#requests]',
    to: '[...this.#requests, ...requests]',
  },
  {
    file: 'src/session/requests/backlog.ts',
    caughtBy: 'test/session/requests/backlog.test.ts',
    bug: 'a caller that reuses its bytes changes a queued write',
    from: 'encodeAhead(request, maxRequestBytes)\n    this.#requests.add(request)',
    to: 'this.#requests.add(request)',
  },
  {
    file: 'src/session/requests/request.ts',
    caughtBy: 'test/session/requests/order.test.ts',
    bug: 'an event in the frame after the reply finds no watch, because the watch is armed too late',
    from: 'watches.arm(kind, watch, !this.settled)',
    to: 'const isWanted = !this.settled\n      void Promise.resolve().then(() => watches.arm(kind, watch, isWanted))',
  },
  {
    file: 'src/session/requests/request.ts',
    caughtBy: 'test/session/requests/request.test.ts',
    bug: 'a settled request keeps its listener on the signal, which lives longer',
    from: 'this.#stopListening?.()\n',
    to: '',
  },
  {
    file: 'src/session/requests/requests.ts',
    caughtBy: 'test/session/requests/limits.test.ts',
    bug: 'maxPending is reached for ever after calls were lost with their connection',
    from: 'this.#pending--\n    this.#untrackWatch(request)',
    to: 'this.#untrackWatch(request)',
  },
  {
    file: 'src/session/watches/one-shot-watches.ts',
    caughtBy: 'test/session/watches/one-shot-watches.test.ts',
    bug: 'removeWatches() does not remove the watch of an earlier call in flight',
    from: '[...listOf(entry.armed), ...listOf(entry.pending)]',
    to: '[...listOf(entry.armed)]',
  },
  {
    file: 'src/session/watches/watch-manager.ts',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
    bug: 'a watch is set for a view that was closed before the reply',
    from: 'this.#closedViews.add(view)',
    to: '',
  },
  {
    file: 'src/session/watches/watch-manager.ts',
    caughtBy: 'test/session/watches/removed-watches.test.ts',
    bug: 'the watches of a closed view stay at the server',
    from: 'for (const watch of watches) this.#drop(watch)',
    to: 'for (const watch of watches) this.#oneShot.disarm(watch)',
  },
]
