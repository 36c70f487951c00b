// Collects garbage on demand, to see what is still referenced.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Runs a garbage collection, which also clears each WeakRef to an object that nothing references. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** Returns the bytes of the heap in use after a garbage collection. */
export function heapInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
