// Makes tables of the results of runs. Pure.
import type { Result } from '../output/result.ts'
import type { PeersResult } from '../peers/result.ts'
import { locks, otherLibraries } from '../services/locks.ts'
import { bytesOf, framesOf, type ServicesResult } from '../services/result.ts'
import type { Dataset, Observation } from './datasets.ts'

const N = 'contenders'

/** Leaves out what is no number. */
const observation = (lock: string, figures: Readonly<Record<string, number | null | undefined>>): Observation => ({
  lock,
  figures: Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  ),
})

const polls = (id: string): boolean => locks.some(lock => lock.id === id && lock.polls)

/** One table for each name of a phase. */
export function herdDatasets({ cells }: Result): Dataset[] {
  const names = [...new Set(cells.flatMap(({ phases }) => phases.map(({ phase }) => phase)))]
  return names.map(name => ({
    name: `fan-out: ${name}`,
    observations: cells.flatMap(({ scenario, size, phases }) =>
      phases
        .filter(({ phase }) => phase === name)
        .map(({ counts, marks, ms, clientCpuMs, serverCpuMs }) =>
          observation(scenario, {
            [N]: size,
            notifications: counts.notifications.median,
            frames: counts.framesSent.median + counts.framesReceived.median,
            'bytes sent': counts.bytesSent.median,
            'bytes read': counts.bytesReceived.median,
            'first mark, ms': marks?.first,
            'last mark, ms': marks?.last,
            'duration, ms': ms,
            'client CPU, ms': clientCpuMs,
            'server CPU, ms': serverCpuMs,
          }),
        ),
    ),
  }))
}

export function peersDatasets({ cells, libraries, roundTrips }: PeersResult): Dataset[] {
  const nameOf = (recipe: string) => {
    const library = libraries.find(({ recipes }) => recipes.some(({ id }) => id === recipe))
    const own = library?.recipes.find(({ id }) => id === recipe)
    return `${library?.name ?? ''}: ${own?.name ?? recipe}`
  }
  return (['release', 'join'] as const).map(phase => ({
    name: `libraries: ${phase}`,
    observations: cells.map(({ recipe, size, phases }) => {
      const { tally, ms, clientCpuMs, serverCpuMs } = phases[phase]
      const trips = roundTrips.find(each => each.recipe === recipe && each.size === size)
      return observation(nameOf(recipe), {
        [N]: size,
        notifications: tally.notifications,
        frames: tally.framesSent + tally.framesReceived,
        'bytes sent': tally.bytesSent,
        'bytes read': tally.bytesReceived,
        ...(phase === 'release' && { 'round trips': trips?.counted }),
        'duration, ms': ms,
        'client CPU, ms': clientCpuMs,
        'server CPU, ms': serverCpuMs,
      })
    }),
  }))
}

export function servicesDatasets(result: ServicesResult): Dataset[] {
  const nameOf = (id: string) => {
    const lock = [...locks, ...otherLibraries].find(each => each.id === id)
    return lock === undefined ? id : `${lock.service}: ${lock.name}`
  }
  const of = <T extends { lock: string }>(
    name: string,
    cells: readonly T[],
    figuresOf: (cell: T) => object,
  ): Dataset => ({
    name: `services: ${name}`,
    observations: cells.map(cell => observation(nameOf(cell.lock), figuresOf(cell) as Record<string, number>)),
  })
  return [
    of('release', result.releases, cell => ({
      [N]: cell.size,
      // The traffic of a lock that polls is not that of its release.
      ...(!polls(cell.lock) && { woken: cell.woken, frames: framesOf(cell), bytes: bytesOf(cell) }),
      'hand-over, ms': cell.ms,
    })),
    of('waiting, a second', result.waiting, cell => ({
      ...{ [N]: cell.size, frames: framesOf(cell), bytes: bytesOf(cell) },
    })),
    of('nobody else wants it', result.uncontended, ({ warm, cold, trips }) => ({
      ...{ 'warm: p50, ms': warm.p50, 'warm: p99, ms': warm.p99, 'warm: round trips': trips.warm },
      ...{ 'cold: p50, ms': cold.p50, 'cold: p99, ms': cold.p99, 'cold: round trips': trips.cold },
    })),
    ...(['light', 'heavy'] as const).map(tail =>
      of(
        `contenders come and go, ${tail} tail`,
        result.openWorlds.filter(({ hold }) => hold === tail),
        ({ wait, overtaking }) => ({
          ...{ 'wait: p50, ms': wait.p50, 'wait: p99, ms': wait.p99, 'wait: p99.9, ms': wait.p999, overtaking },
        }),
      ),
    ),
    of('all want it at once', result.saturations, ({ perSecond, jain }) => ({
      'grants a second': perSecond,
      'Jain’s index': jain,
    })),
  ]
}
