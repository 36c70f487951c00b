// What was played, as lines that are the same wherever it was played: what must differ between two servers is left out or given a name.
import { codeOf, eventTypes } from '../../src/protocol/index.ts'
import type { ServerMessage } from '../support/wire-session.ts'
import type { Played } from './runner.ts'

export interface Page {
  /** What was done. */
  heading: string
  lines: readonly string[]
}

export function transcriptOf({ base, steps, sessions, nodes }: Played): Page[] {
  const zxids = [...new Set(zxidsIn([steps.map(({ heard }) => heard), nodes]))].sort(ascending)
  const names: Names = { base, sessions, zxids }
  const pages = steps.map(({ step, heard }) => ({
    heading: JSON.stringify(step),
    lines: heard.flatMap((each, i) => each.map(one => `session ${i} hears ${told(one, names)}`)),
  }))
  const left = nodes.map(({ path, data, acl }) =>
    [path.slice(base.length), told({ reply: data }, names), told({ reply: acl }, names)].join(' '),
  )
  return [...pages, { heading: 'all nodes', lines: left }]
}

/** Where two transcripts part, for people; undefined where they do not. */
export function difference(transcripts: Readonly<Record<string, readonly Page[]>>): string | undefined {
  const [ours = [], theirs = []] = Object.values(transcripts)
  const at = theirs.findIndex(({ lines }, i) => lines.join('\n') !== ours[i]?.lines.join('\n'))
  if (at === -1) return undefined
  const steps = theirs.slice(0, at + 1).map(({ heading }) => `\n  ${heading}`)
  const sides = Object.entries(transcripts).map(
    ([name, pages]) => `\n${name}:${(pages[at]?.lines ?? []).map(line => `\n  ${line}`).join('')}`,
  )
  return `They part at the last of${steps.join('')}${sides.join('')}`
}

interface Names {
  base: string
  sessions: readonly bigint[]
  /** Of all transactions that any Stat tells of, ascending. */
  zxids: readonly bigint[]
}

const statZxids = ['czxid', 'mzxid', 'pzxid']
const times = ['ctime', 'mtime']

function told(heard: ServerMessage, names: Names): string {
  if ('event' in heard) {
    const { type, state, path } = heard.event
    const name = Object.entries(eventTypes).find(([, number]) => number === type)?.[0]
    return `${name ?? type} ${state} ${String(named('path', path, names))}`
  }
  const { zxid, err, body } = heard.reply
  const outcome = err === 0 ? 'OK' : codeOf(err)
  return `${outcome} ${JSON.stringify(named('', body, names))} at ${placeOf(zxid, names)}`
}

/** How many of the known transactions were done by then: what others do on the server meanwhile is not counted. */
const placeOf = (zxid: bigint, { zxids }: Names): number => zxids.filter(each => each <= zxid).length

function named(key: string, value: unknown, names: Names): unknown {
  if (typeof value === 'bigint') {
    if (statZxids.includes(key)) return placeOf(value, names)
    const session = names.sessions.indexOf(value)
    return session === -1 ? `0x${BigInt.asUintN(64, value).toString(16)}` : `session ${session}`
  }
  if (typeof value === 'string') return value.startsWith(names.base) ? value.slice(names.base.length) || '/' : value
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (Array.isArray(value)) {
    const list = value.map(each => named('', each, names))
    // No order is promised of children, ephemeral nodes, or somebody's identities.
    return ['children', 'ephemerals', 'acl', 'clientInfo'].includes(key)
      ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([each]) => !times.includes(each))
      .map(([each, what]) => [each, named(each, what, names)]),
  )
}

function zxidsIn(value: unknown, key = ''): bigint[] {
  if (typeof value === 'bigint') return statZxids.includes(key) ? [value] : []
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return []
  return Object.entries(value).flatMap(([each, what]) => zxidsIn(what, each))
}

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
