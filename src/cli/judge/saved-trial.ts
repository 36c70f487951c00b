// A trial as a file that the playground plays: an object of JSON in each line, as `trace --json --hex` prints them.
import { deflateRawSync } from 'node:zlib'
import { jsonText } from '../runner/output.ts'
import type { Row } from './record.ts'

/** @param about what was found, and in which trial, as sentences */
export const savedTrial = (rows: readonly Row[], about: readonly string[]): string =>
  [{ about }, ...rows.map(savedRow)].map(each => `${jsonText(each)}\n`).join('')

/** The longest link, in characters. Programs that pass addresses on may cut longer ones. */
const LONGEST_LINK = 8_000

/** Returns the end of the playground's address that plays a saved trial; undefined if it would be too long. */
export function trialLinkOf(saved: string): string | undefined {
  const link = `#trial=${deflateRawSync(saved, { level: 9 }).toString('base64url')}`
  return link.length > LONGEST_LINK ? undefined : link
}

function savedRow({ at, copy, kind, text, holders, line }: Row): object {
  const seconds = at / 1000
  if (line === undefined) return { seconds, copy, [kind]: text, holders }
  const { connection, server, told } = line
  // The bytes say all that the dump says.
  return { seconds, connection, copy, ...told, server, dump: undefined }
}
