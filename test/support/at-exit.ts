// What is still to be done when this process ends, however it ends: children and their files must not outlive it.

const wills = new Set<() => void>()
let armed = false

/** Has `will` run at the end of the process, after a signal too. Returns a function that takes it back. */
export function lastWill(will: () => void): () => void {
  arm()
  wills.add(will)
  return () => wills.delete(will)
}

function arm(): void {
  if (armed) return
  armed = true
  process.on('exit', execute)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, function die() {
      execute()
      // Our listener disarmed the signal. Where somebody else listens too, they decide what it means; else it kills.
      if (process.listenerCount(signal) > 1) return
      process.off(signal, die)
      process.kill(process.pid, signal)
    })
  }
}

function execute(): void {
  for (const will of wills) {
    wills.delete(will)
    try {
      will()
    } catch {
      // The others have to be done all the same.
    }
  }
}
