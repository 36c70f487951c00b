// Figures as text. Pure, and free of modules of Node.js, because the report's page uses it too.

const NOTHING = '-'
const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E']

/** Formats a large number with three digits and a unit, such as '59.0M'. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return NOTHING
  if (value < 1000) return String(Math.round(value))
  const thousands = UNITS.findIndex((_, i) => value < (i === 0 ? 1000 : 999.5 * 1000 ** i))
  const power = thousands < 0 ? UNITS.length - 1 : thousands
  return `${figure(value / 1000 ** power)}${UNITS[power]}`
}

/** Formats a number of bytes with its unit, such as '59.0 MB'. */
export const amount = (value: number): string => bytes(value).replace(/[kMGTPE]?$/, ' $&B')

/** Formats a rate in bits a second, such as '1.00 Gbit/s'. */
export const bitRate = (value: number): string => bytes(value).replace(/[kMGTPE]?$/, ' $&bit/s')

/** Formats with three digits, because further digits are noise. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NOTHING
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2)
}

/** Formats with three digits also below 1, unless it is longer before the point: for costs that differ by powers of ten. */
export const threeDigits = (value: number): string =>
  !Number.isFinite(value) ? NOTHING : value >= 1000 ? String(Math.round(value)) : value.toPrecision(3)

/** Formats a whole number, from 10,000 on with commas. */
export const whole = (value: number): string =>
  value < 10_000 ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, ',')

const SPANS = [
  ['years', 365 * 86_400_000],
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['s', 1000],
] as const

/** Formats a duration, such as '0.53 ms' or '2.10 hours'. */
export function duration(ms: number): string {
  const [unit, length] = SPANS.find(([unit, length]) => ms >= (unit === 's' ? length : 2 * length)) ?? ['ms', 1]
  return `${figure(ms / length)} ${unit}`
}

/** Joins with commas and 'and'. */
export const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
