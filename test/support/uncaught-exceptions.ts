// Catches uncaught exceptions for a test.

/** Returns the uncaught exceptions during a task. */
export async function uncaughtDuring(task: () => Promise<unknown>): Promise<unknown[]> {
  const thrown: unknown[] = []
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', error => thrown.push(error))
  try {
    await task()
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const each of others) process.on('uncaughtException', each)
  }
  return thrown
}
