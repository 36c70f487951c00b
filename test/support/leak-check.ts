// Nothing outlives its tests. What is left open is told, and fails the run, but doesn't keep it for ever: behind each file where files take
// turns in several processes, which are ended from outside then; behind the last one where they run in one. An `after` of a file that stands in no
// `describe` would come too late.
import { until } from './until.ts'

/** Milliseconds that what is open has: a server and its files take a moment to go. */
const GRACE_PERIOD = 20_000

/** The process's own: its output, and the channel to the one that hands the files out. */
const ownResources = ['PipeWrap', 'TTYWrap']

const openResources = () => process.getActiveResourcesInfo().filter(resource => !ownResources.includes(resource))

export const mochaHooks = {
  async afterAll(this: Mocha.Context) {
    const isDone = () => {
      // mocha's own timer would be one that is left: it sets one even where it has no limit.
      this.runnable().clearTimeout()
      return openResources().length === 0
    }
    await until(isDone, { within: GRACE_PERIOD }).catch(() => {
      throw new Error(`the tests are over, and this is still open: ${openResources().join(', ')}`)
    })
  },
}

export function mochaGlobalTeardown(): void {
  setTimeout(() => process.exit(), 1000).unref()
}
