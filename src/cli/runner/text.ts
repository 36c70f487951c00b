// Values as text: names, data and times, for people and as JSON.
import { isUtf8 } from 'node:buffer'
import { printable } from '../../protocol/index.ts'

/** Makes text of others fit for a terminal. */
export const escaped = (text: string): string => printable(text)

/** Like {@link escaped}, but keeps line breaks and tabs. */
export const escapedLines = (text: string): string => printable(text, '\n\t')

/** Returns the data as text, or as hex if it is not UTF-8. */
export function dataText(data: Uint8Array | null): string {
  if (data === null) return ''
  return isUtf8(data) ? escapedLines(textOf(data)) : hexOf(data)
}

/** Data in JSON: text if it is UTF-8, otherwise hex. */
export const jsonData = (data: Uint8Array | null): { readonly data: string | null } | { readonly hex: string } => {
  if (data === null) return { data: null }
  return isUtf8(data) ? { data: textOf(data) } : { hex: hexOf(data) }
}

const bufferOf = (data: Uint8Array): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength)
const textOf = (data: Uint8Array): string => bufferOf(data).toString()
const hexOf = (data: Uint8Array): string => bufferOf(data).toString('hex')

/** Returns a time of a Stat, which is in milliseconds since 1970, in ISO 8601. */
export const timeText = (time: bigint | number): string => {
  const date = new Date(Number(time))
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
