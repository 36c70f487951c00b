// Bugs of the session's life: lease, states, heartbeat.
import type { PlantedBug } from '../planted-bug.ts'

const lease = { file: 'src/session/life/lease.ts', caughtBy: 'test/session/life/lease.test.ts' }

export const life: readonly PlantedBug[] = [
  {
    ...lease,
    bug: 'the lease does not notice that the machine was suspended, because it reads one clock only',
    from: 'timeout - Math.max(now - since.now, wall - since.wall)',
    to: 'timeout - (now - since.now)',
  },
  {
    ...lease,
    bug: 'the lease ends if the wall clock is set back',
    from: 'timeout - Math.max(now - since.now, wall - since.wall)',
    to: 'timeout - Math.abs(wall - since.wall)',
  },
  {
    ...lease,
    bug: 'a late reply to an early packet shortens the lease',
    from: 'sentAt.now <= this.#since.now',
    to: 'false',
  },
  {
    ...lease,
    bug: 'a renewed lease keeps the aborted signal of the expired one',
    from: 'if (this.expired) this.#lost = new Abort()',
    to: '',
  },
  {
    ...lease,
    bug: 'a renewed lease expires at the time of its first end',
    from: 'if (!this.expired) this.#schedule()',
    to: 'this.#lost.abort(() => new Error())',
  },
]
