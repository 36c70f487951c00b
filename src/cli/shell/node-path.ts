// Paths of nodes as a user of a shell types them.

/**
 * Returns the absolute path that `text` means in the current node. Names are never `.` or `..` in ZooKeeper. Keeps a slash
 * at the end, which means an empty name for a new sequential node.
 */
export function resolvePath(current: string, text: string): string {
  const names: string[] = []
  for (const name of `${text.startsWith('/') ? '' : current}/${text}`.split('/'))
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  return `/${names.join('/')}${text.endsWith('/') && names.length > 0 ? '/' : ''}`
}
