// What is still to be done when this process ends, however it ends: children and their files must not outlive it.

const callbacks = new Set<() => void>()
let installed = false

/** Has `will` run at the end of the process, after a signal too. Returns a function that takes it back. */
export function runAtExit(will: () => void): () => void {
  install()
  callbacks.add(will)
  return () => callbacks.delete(will)
}

function install(): void {
  if (installed) return
  installed = true
  process.on('exit', runAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, function die() {
      runAll()
      // Our listener disarmed the signal. Where somebody else listens too, they decide what it means; else it kills.
      if (process.listenerCount(signal) > 1) return
      process.off(signal, die)
      process.kill(process.pid, signal)
    })
  }
}

function runAll(): void {
  for (const will of callbacks) {
    callbacks.delete(will)
    try {
      will()
    } catch {
      // The others have to be done all the same.
    }
  }
}
