import type { Random } from './random.ts'

/** Returns a version 4 UUID (RFC 9562) made from `random`. */
export function uuidFrom(random: Random): string {
  const word = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0')
  const [a, b, c, d] = [word(), word(), word(), word()]
  const variant = '89ab'[parseInt(c.charAt(0), 16) & 3] ?? '8'
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
}
