// The error of calls of a recipe that was closed.
import { ZooKeeperError } from '../../protocol/index.ts'

/** Returns the error of a call that comes after close(). */
export const closed = (op: string, path: string): ZooKeeperError =>
  new ZooKeeperError('CLOSED', { op, path, fate: 'notSent' })
