// Makes an unhandled rejection fail the test during which it happens. Node would end a user's process, but mocha 12
// catches the rejection and ignores it.
process.on('unhandledRejection', reason => {
  throw reason
})
