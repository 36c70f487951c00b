// Cleanup that runs when this process ends, even by a signal: child processes and their files must not outlive it.

const callbacks = new Set<() => void>()
let installed = false

/** Runs `callback` when the process exits, or when a signal ends it. Returns a function that cancels this. */
export function runAtExit(callback: () => void): () => void {
  install()
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}

function install(): void {
  if (installed) return
  installed = true
  process.on('exit', runAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, function onSignal() {
      runAll()
      // This listener replaced the signal's default action. If there is another listener, it decides what happens.
      // Otherwise the signal must still end the process.
      if (process.listenerCount(signal) > 1) return
      process.off(signal, onSignal)
      process.kill(process.pid, signal)
    })
  }
}

function runAll(): void {
  for (const callback of callbacks) {
    callbacks.delete(callback)
    try {
      callback()
    } catch {
      // The remaining callbacks must still run.
    }
  }
}
