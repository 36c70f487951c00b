/** The nodes of a new server, which clients cannot delete (DataTree.isSpecialPath). */
export const specialPaths: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])
