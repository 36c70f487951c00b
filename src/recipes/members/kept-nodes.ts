// The nodes that this process keeps. A loop that ends must not delete the node that another one keeps in its session.
import { serverPath, sessionKey } from '../../client/recipe-support.ts'
import type { SessionLoop } from './session-loop.ts'

/** The loops of each session that keep a node, with the path of the node, which a sequential one gets later. */
const sessions = new WeakMap<object, Map<SessionLoop, () => string>>()

/** Records that the loop keeps a node, until {@link forget}. */
export function keep(loop: SessionLoop, pathOf: () => string): void {
  const key = sessionKey(loop.client)
  const loops = sessions.get(key) ?? new Map<SessionLoop, () => string>()
  sessions.set(key, loops.set(loop, pathOf))
}

/** Returns true if another loop in the session keeps the node of this one. */
export function isKeptByAnother(loop: SessionLoop): boolean {
  const loops = sessions.get(sessionKey(loop.client))
  const pathOf = loops?.get(loop)
  if (loops === undefined || pathOf === undefined) return false
  const path = serverPath(loop.client, pathOf())
  return Array.from(loops).some(
    ([other, otherPath]) => other !== loop && other.isRunning && serverPath(other.client, otherPath()) === path,
  )
}

export const forget = (loop: SessionLoop): void => void sessions.get(sessionKey(loop.client))?.delete(loop)
