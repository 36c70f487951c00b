// Bugs of the runtime's adapters and of the virtual clock.
import type { PlantedBug } from '../planted-bug.ts'

const abort = { file: 'src/runtime/abort.ts', caughtBy: 'test/runtime/abort.test.ts' }
const callbacks = { file: 'src/runtime/callbacks.ts', caughtBy: 'test/runtime/callbacks.test.ts' }
const map = { file: 'src/runtime/sweeping-map.ts', caughtBy: 'test/runtime/sweeping-map.test.ts' }
const clock = { file: 'src/testing/virtual-clock.ts', caughtBy: 'test/testing/virtual-clock.test.ts' }

const clockJumps = { file: 'src/runtime/clock-jumps.ts', caughtBy: 'test/runtime/clock-jumps.test.ts' }

export const runtime: readonly PlantedBug[] = [
  {
    ...abort,
    bug: 'a signal that lives long keeps the listeners of calls that have ended',
    from: 'if (listener.callbacks.delete(callback) && listener.callbacks.size === 0) listener.stop()',
    to: 'listener.callbacks.delete(callback)',
  },
  {
    ...abort,
    bug: 'the signal of an abort that came before its first use never aborts',
    from: 'if (this.#reason !== undefined) this.#controller.abort(this.#reason())',
    to: '',
  },
  {
    ...abort,
    bug: 'a signal that has aborted already does not stop the function of lead()',
    from: 'if (signal?.aborted) controller.abort(signal.reason)',
    to: '',
  },
  {
    ...callbacks,
    bug: 'watch callbacks run after the promises of later replies',
    caughtBy: 'test/session/requests/order.test.ts',
    from: 'void RESOLVED.then(() => this.now(callback, value))',
    to: 'setImmediate(() => this.now(callback, value))',
  },
  {
    ...callbacks,
    bug: 'an async callback that rejects ends the process',
    from: 'if (result instanceof Promise) result.catch((error: unknown) => this.#report(error))',
    to: '',
  },
  {
    ...map,
    bug: 'a sweep also forgets the watches of paths that are not deleted',
    from: 'if (value === undefined) this.#byPath.delete(path)',
    to: 'this.#byPath.delete(path)',
  },
  {
    bug: 'not all orders of the servers are equally likely',
    file: 'src/runtime/shuffle.ts',
    caughtBy: 'test/session/servers/hosts.test.ts',
    from: 'random() * (i + 1)',
    to: 'random() * i',
  },
  {
    bug: 'the names of nodes contain UUIDs of another form, which other clients do not recognize',
    file: 'src/runtime/uuid.ts',
    caughtBy: 'test/runtime/uuid.test.ts',
    from: '-4${b.slice(5)}',
    to: '-${b.slice(4)}',
  },
  {
    bug: 'a secret of another length makes the comparison throw',
    file: 'src/runtime/hash.ts',
    caughtBy: 'test/sasl/digest-md5.test.ts',
    from: 'a.length === b.length && timingSafeEqual(a, b)',
    to: 'timingSafeEqual(a, b)',
  },
  {
    ...clock,
    bug: 'timers of the same time fire in the opposite order',
    from: 'other.at === at && other.nth < nth',
    to: 'other.at === at && other.nth > nth',
  },
  {
    ...clock,
    bug: 'a timer without a delay fires in the turn that set it',
    from: 'ms >= 1 ? ms : 1',
    to: 'ms',
  },
  {
    ...clock,
    bug: 'clearing a timer that has fired clears another one',
    from: 'if (this.#timers[index] === timer) this.#timers.splice(index, 1)',
    to: 'this.#timers.splice(index, 1)',
  },
  {
    ...clockJumps,
    bug: 'a jump of the wall clock is noticed only after a minute',
    from: 'const INTERVAL = 1000',
    to: 'const INTERVAL = 60_000',
  },
  {
    ...clockJumps,
    bug: 'a jump of the wall clock is not noticed if that clock was set back before',
    from: 'if (hasJumped || ahead < this.#ahead)',
    to: 'if (hasJumped)',
  },
  {
    ...clockJumps,
    bug: 'a wall clock that is a little too fast is never noticed',
    from: 'if (hasJumped || ahead < this.#ahead)',
    to: 'if (this.#ahead !== ahead)',
  },
  {
    ...clockJumps,
    bug: 'the clocks are compared after all sessions have ended',
    from: 'this.#listeners.size === 0) this.#clock.clearTimeout(this.#timer)',
    to: 'this.#listeners.size === 0) this.#firesAt = 0',
  },
  {
    ...clockJumps,
    file: 'src/session/session.ts',
    caughtBy: 'test/recipes/locks/leases.test.ts',
    bug: 'an idle session does not notice that the machine was suspended',
    from: 'ClockJumps.of(this.#settings.clock).add(this)',
    to: '',
  },
]
