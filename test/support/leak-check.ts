// Fails the run if a test leaves a resource open, and names the resource, but still lets the run end. If mocha runs the
// files in several processes, the check runs after each file, because mocha ends those processes. Otherwise it runs
// after the last file. Tests must close resources inside a `describe`: an `after` outside of one runs later than the
// check.
import { until } from './until.ts'

/** Time in milliseconds for open resources to close: a server needs a moment to exit. */
const GRACE_PERIOD = 20_000

/** Resources of the process itself: its output, and the channel to the process that distributes the files. */
const ownResources = ['PipeWrap', 'TTYWrap']

const openResources = () => process.getActiveResourcesInfo().filter(resource => !ownResources.includes(resource))

export const mochaHooks = {
  async afterAll(this: Mocha.Context) {
    const isDone = () => {
      // Mocha sets a timer for this hook even without a limit. The check would count it as a leak.
      this.runnable().clearTimeout()
      return openResources().length === 0
    }
    await until(isDone, { within: GRACE_PERIOD }).catch(() => {
      throw new Error(`the tests have ended and these resources are still open: ${openResources().join(', ')}`)
    })
  },
}

export function mochaGlobalTeardown(): void {
  setTimeout(() => process.exit(), 1000).unref()
}
