// The globals of Node that a browser lacks. esbuild replaces each use of such a global by an import from this file.
import { Buffer } from 'buffer/'

export { Buffer }

/** Compares with any Uint8Array, as Node does. The method of the package refuses all but a Buffer. */
Buffer.prototype.equals = function (other: Uint8Array): boolean {
  return Buffer.compare(this, other) === 0
}

const tasks: (() => void)[] = []
const { port1, port2 } = new MessageChannel()
port1.addEventListener('message', () => tasks.shift()?.())
port1.start()

/** Calls back in the next turn of the event loop. setTimeout would wait four milliseconds when it is nested. */
export function setImmediate(callback: () => void): void {
  tasks.push(callback)
  port2.postMessage(undefined)
}

/** The part of `process` that recipes use. */
export const process = {
  emitWarning: (warning: string, { code }: { code: string }): void => console.warn(`${code}: ${warning}`),
}
