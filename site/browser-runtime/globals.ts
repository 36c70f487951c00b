// The globals of Node that a browser lacks. esbuild replaces each use of such a global by an import from this file.
export { Buffer } from 'buffer/'

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
