// A browser has neither sockets nor files. Each use rejects or throws, and says what to do instead.

function fail(): never {
  const message = 'a browser has no TCP: pass the option `dial` to connect(), and start servers with `listen: false`'
  throw Object.assign(new Error(message), { code: 'ENOTSUP' })
}

const reject = (): Promise<never> => Promise.reject(new Error('a browser has no files'))

export const connect = fail
export const createSecureContext = fail
export const createServer = fail
export const lookup = fail
export const once = fail
export const promises = { resolveSrv: fail }
export const readFile = reject
export const rename = reject
export const writeFile = reject
