// Which nodes have so many watches that one change notifies a herd. Pure.

/** What all servers said of their watches at one moment. */
export interface WatchSample {
  /** The number of sessions that watch each node. */
  readonly watchers: ReadonlyMap<string, number>
  readonly ephemerals: ReadonlySet<string>
  /** The number of all watches, also of those on children, which servers do not name. Undefined if unknown. */
  readonly watches: number | undefined
}

export interface Herd {
  /** Undefined for the watches on children: no server names their nodes. */
  readonly path: string | undefined
  /** The most watches that it had at a time. */
  readonly watchers: number
  /** In how many samples it had as many as a herd has. */
  readonly samples: number
  readonly isEphemeral: boolean
}

/**
 * Returns the herds, the largest first.
 * @param least how many watches make a herd
 */
export function herdsIn(samples: readonly WatchSample[], least: number): Herd[] {
  const herds = new Map<string | undefined, Herd>()
  const note = (path: string | undefined, watchers: number, isEphemeral: boolean) => {
    if (watchers < least) return
    const known = herds.get(path)
    herds.set(path, {
      path,
      watchers: Math.max(watchers, known?.watchers ?? 0),
      samples: (known?.samples ?? 0) + 1,
      isEphemeral: isEphemeral || known?.isEphemeral === true,
    })
  }
  for (const { watchers, ephemerals, watches } of samples) {
    for (const [path, count] of watchers) note(path, count, ephemerals.has(path))
    const named = [...watchers.values()].reduce((sum, count) => sum + count, 0)
    note(undefined, (watches ?? named) - named, false)
  }
  return [...herds.values()].toSorted((a, b) => b.watchers - a.watchers)
}
