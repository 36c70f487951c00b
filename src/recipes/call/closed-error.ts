// The error of calls of a recipe that was closed.
import { ZooKeeperError, type Fate } from '../../protocol/index.ts'

/**
 * @param fate `unknown` for a call that was under way
 * @param detail why, if the recipe was not closed by its close()
 */
export const closedError = (op: string, path: string, fate: Fate = 'notSent', detail?: string): ZooKeeperError =>
  new ZooKeeperError('CLOSED', { op, path, fate, detail })
