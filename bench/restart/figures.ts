// Computes from the events of the services how long each was without a leader. Pure.

/** Each service has a leader and one that stands by. */
export const INSTANCES = 2

export type Kind = 'session' | 'leads' | 'stops' | 'locks' | 'unlocks' | 'reads'

/** The time in ms since 1970, the number of the service and of the instance, and for some kinds a value. */
export type Event = [at: number, service: number, instance: number, kind: Kind, value: string]

export interface Span {
  readonly from: number
  readonly to: number
}

/** Returns the spans in which no instance of the service led, within `window`. */
export function gapsOf(events: readonly Event[], service: number, { from, to }: Span): Span[] {
  const leading = new Set<number>()
  const gaps: Span[] = []
  let since: number | undefined = -Infinity
  const end = (at: number) => {
    if (since === undefined) return
    const gap = { from: Math.max(from, since), to: Math.min(to, at) }
    if (gap.to > gap.from) gaps.push(gap)
  }
  for (const [at, of, instance, kind] of events) {
    if (of !== service || (kind !== 'leads' && kind !== 'stops')) continue
    if (kind === 'leads') leading.add(instance)
    else leading.delete(instance)
    if (leading.size > 0) {
      end(at)
      since = undefined
    } else {
      since ??= at
    }
  }
  end(to)
  return gaps
}

/** The figures of one library. Times are in milliseconds. */
export interface Figures {
  /** The number of sessions that were replaced by another one. */
  sessionsLost: number
  /** The number of services that were without a leader at some time. */
  servicesWithGaps: number
  /** The time that the service in the middle was without a leader, and that of the service with the longest. */
  median: number
  longest: number
  /** The longest time without a leader at a stretch. */
  longestGap: number
}

export function figuresOf(events: readonly Event[], services: number, window: Span): Figures {
  const all = Array.from({ length: services }, (_, service) =>
    gapsOf(events, service, window).map(({ from, to }) => to - from),
  )
  const totals = all.map(gaps => gaps.reduce((sum, gap) => sum + gap, 0)).sort((a, b) => a - b)
  const sessions = new Set(events.flatMap(([, s, i, kind, id]) => (kind === 'session' ? [`${s} ${i} ${id}`] : [])))
  return {
    sessionsLost: sessions.size - services * INSTANCES,
    servicesWithGaps: all.filter(gaps => gaps.length > 0).length,
    median: totals[Math.floor(services / 2)] ?? 0,
    longest: totals.at(-1) ?? 0,
    longestGap: Math.max(0, ...all.flat()),
  }
}
