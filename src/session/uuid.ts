// Names that are drawn from chance.
import type { Random } from '../machine/random.ts'

/** A version 4 UUID (RFC 9562) drawn from `random`. */
export function uuidFrom(random: Random): string {
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
  const variant = '89ab'[parseInt(hex.charAt(16), 16) & 3] ?? '8'
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join(
    '-',
  )
}
