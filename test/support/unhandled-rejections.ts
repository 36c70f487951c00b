// Makes an unhandled rejection fail the test during which it happens. Node would end a user's process, but mocha 12
// catches the rejection and ignores it. Each file needs its own listener, because a parallel worker of mocha removes all
// listeners after each file.
const onUnhandled = (reason: unknown) => {
  throw reason
}

export const mochaHooks = {
  beforeAll() {
    process.off('unhandledRejection', onUnhandled).prependListener('unhandledRejection', onUnhandled)
  },
}
