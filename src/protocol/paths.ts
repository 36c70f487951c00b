// Paths of nodes: validation (as ZooKeeper's PathUtils.validatePath), and their parents, children and names.

/**
 * Returns why `path` is not a valid path, or undefined if it is one.
 * @param sequential true if the server will append a number, so that the path may end with a slash. Default: false.
 * @example paths.pathProblem('/app/') // => 'a path must not end with /'
 */
export function pathProblem(path: string, sequential = false): string | undefined {
  if (typeof path !== 'string') return 'a path must be a string'
  if (path === '') return 'a path must not be empty'
  if (path.charCodeAt(0) !== SLASH) return 'a path must start with /'
  const { length } = path
  if (length === 1) return undefined
  if (!sequential && path.charCodeAt(length - 1) === SLASH) return 'a path must not end with /'
  let nodeStart = 1
  for (let i = 1; i < length; i++) {
    const c = path.charCodeAt(i)
    // Most characters, without another comparison.
    if (c > SLASH && c < DELETE) continue
    // The texts are made elsewhere, because V8 would compute `${i}` for each character if two of them contained it.
    if (isForbidden(c)) return forbiddenAt(i)
    if (c !== SLASH) continue
    if (isNoName(path, nodeStart, i)) return noNameAt(nodeStart, i)
    nodeStart = i + 1
  }
  if (sequential) return undefined
  return isNoName(path, nodeStart, length) ? noNameAt(nodeStart, length) : undefined
}

const forbiddenAt = (index: number): string => `the character at index ${index} is not allowed`
const SLASH = 0x2f
const DELETE = 0x7f
const DOT = 0x2e

/** Returns true if the name from `start` to `end` is empty, `.` or `..`. */
const isNoName = (path: string, start: number, end: number): boolean =>
  end === start ||
  (path.charCodeAt(start) === DOT && (end === start + 1 || (end === start + 2 && path.charCodeAt(start + 1) === DOT)))

const noNameAt = (start: number, end: number): string =>
  end === start ? `the node name at index ${start} is empty` : `the node name at index ${start} must not be . or ..`

/**
 * Returns true for control characters, surrogates, the private use area and specials. Java checks UTF-16 code units, so
 * emoji are forbidden.
 */
const isForbidden = (c: number): boolean =>
  c <= 0x1f || (c >= DELETE && (c <= 0x9f || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0))

/**
 * Returns the path of a node's parent: '/' if the node is directly below the root.
 * @example paths.parentOf('/app/a') // => '/app'
 */
export const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

/**
 * Returns the path of a child.
 * @example paths.join('/app', 'a') // => '/app/a'
 */
export const join = (parent: string, name: string): string => (parent === '/' ? '' : parent) + '/' + name

/**
 * Returns the last part of a path: the name of the node in its parent.
 * @example paths.nameOf('/app/a') // => 'a'
 */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
