// The installations of Apache ZooKeeper to test.
import { basename } from 'node:path'

export interface Installation {
  name: string
  /** The directory of the binary distribution; undefined for Debian's package. */
  home: string | undefined
}

/**
 * Returns the installations that `ZOOKEEPER_HOMES` names, which are separated by colons. If it names none, returns
 * Debian's, and its name says so.
 */
export function homes(variable = ''): Installation[] {
  const named = variable.split(':').filter(home => home !== '')
  if (named.length > 0) return named.map(home => ({ name: `Apache ZooKeeper of ${basename(home)}`, home }))
  return [{ name: 'Debian’s Apache ZooKeeper alone, because ZOOKEEPER_HOMES names no other', home: undefined }]
}
