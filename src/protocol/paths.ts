// Paths of nodes: validation (as ZooKeeper's PathUtils.validatePath), and their parents, children and names.

/**
 * Returns why `path` is not a valid path, or undefined if it is one.
 * @param sequential true if the server will append a number, so that the path may end with a slash. Default: false.
 * @example paths.pathProblem('/app/') // => 'a path must not end with /'
 */
export function pathProblem(path: string, sequential = false): string | undefined {
  if (typeof path !== 'string') return 'a path must be a string'
  if (path === '') return 'a path must not be empty'
  if (path[0] !== '/') return 'a path must start with /'
  if (sequential) path += '1'
  if (path.length === 1) return undefined
  if (path.endsWith('/')) return 'a path must not end with /'
  for (let i = 1, nodeStart = 1; i <= path.length; i++) {
    const c = i === path.length ? SLASH : path.charCodeAt(i)
    if (c === SLASH) {
      if (i === nodeStart) return `the node name at index ${i} is empty`
      if (isRelative(path, nodeStart, i)) return `the node name at index ${nodeStart} must not be . or ..`
      nodeStart = i + 1
    } else if (isForbidden(c)) {
      return `the character at index ${i} is not allowed`
    }
  }
  return undefined
}

const SLASH = 0x2f
const DOT = 0x2e

const isRelative = (path: string, start: number, end: number): boolean =>
  path.charCodeAt(start) === DOT && (end === start + 1 || (end === start + 2 && path.charCodeAt(start + 1) === DOT))

/**
 * Returns true for control characters, surrogates, the private use area and specials. Java checks UTF-16 code units, so
 * emoji are forbidden.
 */
const isForbidden = (c: number): boolean =>
  c <= 0x1f || (c >= 0x7f && (c <= 0x9f || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0))

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
