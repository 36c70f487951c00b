// The data of a lease, in the bytes of kazoo's NonBlockingLease. Pure functions.

/** Who has a lease, and until when. */
export interface LeaseRecord {
  holder: string
  /** Milliseconds since 1970, whole seconds. */
  end: number
}

/** kazoo reads only this version. It does not take a lease with another one. */
const VERSION = 1
const END = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/

/** Rounds the end down to a second, because kazoo stores no fractions. */
export const endAfter = (now: number, duration: number): number => Math.floor((now + duration) / 1000) * 1000

export const encodeLease = ({ holder, end }: LeaseRecord): string =>
  `{"version": ${VERSION}, "holder": ${JSON.stringify(holder)}, "end": "${new Date(end).toISOString().slice(0, 19)}"}`

/**
 * Returns the record; `newer` if it has another version, whose end is unknown; undefined if the data is no lease.
 */
export function decodeLease(data: string): LeaseRecord | 'newer' | undefined {
  const record = parsed(data) as Partial<Record<string, unknown>> | null | undefined
  if (typeof record !== 'object' || record === null) return undefined
  const { version, holder, end } = record
  if (version !== VERSION) return version === undefined ? undefined : 'newer'
  if (typeof holder !== 'string' || typeof end !== 'string' || !END.test(end)) return undefined
  const time = new Date(`${end}Z`).getTime()
  return Number.isNaN(time) ? undefined : { holder, end: time }
}

/** Returns true if this holder may take the lease now. */
export const isFree = (record: LeaseRecord, holder: string, now: number): boolean =>
  record.holder === holder || now >= record.end

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}
