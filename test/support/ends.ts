// A run of mocha ends by itself: what a test leaves open is told, and fails the run, but doesn't keep it for ever.

/** Milliseconds that what is open has after the last test: a server and its files take a moment to go. */
const LEAVE = 20_000

export function mochaGlobalTeardown(): void {
  setTimeout(() => {
    console.error(`the tests are over, and this is still open: ${process.getActiveResourcesInfo().join(', ')}`)
    // Behind mocha's own listener, which sets what the tests came to.
    process.once('exit', () => (process.exitCode = 1))
    process.exit()
  }, LEAVE).unref()
}
