// What the nodes, watches and sessions of a server say of the copies. Pure: a snapshot in, words out.
import type { Snapshot, WatchEntry } from '../../server/index.ts'

/** The part of a copy that is needed here. */
interface Client {
  readonly number: number
  readonly session: bigint
  readonly sessions: ReadonlySet<bigint>
}

/** The number that the server has appended to a name: ten characters, with the sign. */
const SEQUENCE = /(\d{10}|-\d{9})$/

/**
 * Returns a copy that waits, and whose node is older than that of the copy that has entered, in the same directory. If a
 * copy has several nodes there, as after a lost reply, what speaks for the entered one counts.
 */
export function overtakenBy<T extends Client>(
  entered: T,
  waiting: readonly T[],
  { nodes }: Pick<Snapshot, 'nodes'>,
): T | undefined {
  const places = (copy: T) =>
    [...nodes].flatMap(([path, { stat }]) => {
      const [number] = SEQUENCE.exec(path) ?? []
      if (number === undefined || stat.ephemeralOwner !== copy.session) return []
      return [{ directory: path.slice(0, path.lastIndexOf('/')), number: Number(number) }]
    })
  const own = places(entered)
  return waiting.find(other => {
    const theirs = places(other)
    return own.some(({ directory }) => {
      const numbers = (of: typeof own) => of.filter(each => each.directory === directory).map(({ number }) => number)
      return (
        theirs.some(each => each.directory === directory) && Math.max(...numbers(theirs)) < Math.min(...numbers(own))
      )
    })
  })
}

/** Returns a sentence for each kind of thing that the copies have left. All have ended, and nothing has hit them. */
export function leftBehind(
  { nodes, sessions }: Pick<Snapshot, 'nodes' | 'sessions'>,
  watches: readonly WatchEntry[],
  copies: readonly Client[],
): string[] {
  const number = (session: bigint) => copies.find(copy => copy.sessions.has(session))?.number
  const parents = new Set([...nodes.keys()].map(path => path.slice(0, path.lastIndexOf('/'))))
  // A directory without children may be one that is used again.
  const persistent = [...nodes].filter(
    ([path, { stat }]) => stat.ephemeralOwner === 0n && SEQUENCE.test(path) && !parents.has(path),
  )
  return [
    ...sessions.flatMap(({ id }) =>
      number(id) === undefined ? [] : [`copy ${number(id)} has ended without closing its session`],
    ),
    ...persistent.map(([path]) => `the node ${path}`),
    ...watches.map(({ path, session }) => `copy ${number(session)} has a watch on ${path} after it has left`),
  ]
}
