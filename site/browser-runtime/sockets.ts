// A browser has neither sockets nor files. What would need them fails, and says what to do instead.

/** Its code makes connect() reject at once. */
const noTcp = () => Object.assign(new Error('a browser has no TCP: pass the option `dial`'), { code: 'ENETUNREACH' })

/** Returns a socket that closes with an error, so that connect() rejects. */
export function connect() {
  const listeners = new Map<string, (this: unknown, error?: Error) => void>()
  const socket = {
    on(event: string, listener: (this: unknown, error?: Error) => void) {
      listeners.set(event, listener)
      return socket
    },
    setNoDelay: (): void => undefined,
    write: (): boolean => false,
    destroy: (): void => listeners.clear(),
  }
  queueMicrotask(() => {
    listeners.get('error')?.call(socket, noTcp())
    listeners.get('close')?.call(socket)
  })
  return socket
}

export const createSecureContext = (): object => ({})

export function createServer(): never {
  throw Object.assign(new Error('a browser cannot listen: start the server with `listen: false`'), { code: 'ENOTSUP' })
}

/** Nothing calls it, because no server listens. */
export const once = (): never => createServer()

export const lookup = (_name: string, _options: object, callback: (error: Error) => void): void => callback(noTcp())

export const promises = { resolveSrv: (): Promise<never> => Promise.reject(noTcp()) }

const noFiles = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('a browser has no files'), { code: 'ENOTSUP' }))

export const readFile = noFiles
export const rename = noFiles
export const writeFile = noFiles
