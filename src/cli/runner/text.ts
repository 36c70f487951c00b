// Values as text: names, data and times, for people and as JSON.
import { isUtf8 } from 'node:buffer'

/**
 * Replaces control characters, which could move the cursor or change colours, and those that change the direction of
 * text.
 */
export const escaped = (text: string): string => text.replaceAll(CONTROL, escapeOf)

/** Like {@link escaped}, but keeps line breaks and tabs. */
const escapedLines = (text: string): string =>
  text.replaceAll(CONTROL, each => (each === '\n' || each === '\t' ? each : escapeOf(each)))

// eslint-disable-next-line no-control-regex -- these characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns the data as text, or as hex if it is not UTF-8. */
export function dataText(data: Uint8Array | null): string {
  if (data === null) return ''
  return isUtf8(data) ? escapedLines(textOf(data)) : hexOf(data)
}

/** Data in JSON: text if it is UTF-8, otherwise hex. */
export type JsonData = { readonly data: string | null } | { readonly hex: string }

export const jsonData = (data: Uint8Array | null): JsonData => {
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
