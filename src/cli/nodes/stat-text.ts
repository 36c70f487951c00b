// Stats as text.
import { hex64, type Stat } from '../../protocol/index.ts'
import { timeText } from '../runner/text.ts'

/** One line of `ls -l`: kind, version, bytes, children, time of the last change. `e` marks an ephemeral node. */
export const statColumns = ({ ephemeralOwner, version, dataLength, numChildren, mtime }: Stat): string[] => [
  ephemeralOwner === 0n ? '-' : 'e',
  `v${version}`,
  String(dataLength),
  String(numChildren),
  timeText(mtime),
]

/** All fields of a Stat, with their names in zkCli.sh. */
export const statRows = (stat: Stat): [string, string][] => [
  ['czxid', hex64(stat.czxid)],
  ['ctime', timeText(stat.ctime)],
  ['mzxid', hex64(stat.mzxid)],
  ['mtime', timeText(stat.mtime)],
  ['pzxid', hex64(stat.pzxid)],
  ['version', String(stat.version)],
  ['cversion', String(stat.cversion)],
  ['aversion', String(stat.aversion)],
  ['ephemeralOwner', hex64(stat.ephemeralOwner)],
  ['dataLength', String(stat.dataLength)],
  ['numChildren', String(stat.numChildren)],
]

/** Pads the cells of each column. Numbers are aligned to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map(row => row.length))
  const widths = Array.from({ length: count }, (_, i) => Math.max(...rows.map(row => row[i]?.length ?? 0)))
  return rows.map(row =>
    row
      .map((cell, i) => (/^\d+$/.test(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
