// Fails a test if a promise rejects meanwhile and nobody handles it.
//
// Fails the run if a test leaves a resource open, and names the resource, but still lets the run end. If mocha runs the
// files in several processes, the check runs after each file, because mocha ends those processes. Otherwise it runs
// after the last file. Tests must close resources inside a `describe`: an `after` outside of one runs later than the
// check.
import { until } from '../../environment/until.ts'

/** Time in milliseconds for open resources to close: a server needs a moment to exit. */
const GRACE_PERIOD = Number(process.env['LEAK_GRACE_PERIOD'] ?? 20_000)

/** Resources of the process itself: its output, and the channel to the process that distributes the files. */
const ownResources = ['PipeWrap', 'TTYWrap']

const openResources = () => process.getActiveResourcesInfo().filter(resource => !ownResources.includes(resource))

/** The leaks that were reported. They stay open, and must not fail the later files of this process too. */
let reported: readonly string[] = []

function newResources(): string[] {
  const known = [...reported]
  return openResources().filter(resource => {
    const index = known.indexOf(resource)
    if (index !== -1) known.splice(index, 1)
    return index === -1
  })
}

/** Node would end a user's process, but mocha ignores the rejection. */
const onUnhandledRejection = (reason: unknown) => {
  throw reason
}

export const mochaHooks = {
  // A process that runs several files removes all listeners after each.
  beforeAll() {
    process.off('unhandledRejection', onUnhandledRejection).prependListener('unhandledRejection', onUnhandledRejection)
  },
  async afterAll(this: Mocha.Context) {
    const isDone = () => {
      // Mocha sets a timer for this hook even without a limit. The check would count it as a leak.
      this.runnable().clearTimeout()
      return newResources().length === 0
    }
    await until(isDone, { within: GRACE_PERIOD }).catch(() => {
      const leaked = newResources()
      reported = openResources()
      throw new Error(`the tests have ended and these resources are still open: ${leaked.join(', ')}`)
    })
  },
}

export function mochaGlobalTeardown(): void {
  setTimeout(() => process.exit(), 1000).unref()
}
