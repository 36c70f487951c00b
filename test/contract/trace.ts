// The trace of a scenario as text. It omits or names everything that differs between two correct servers.
import { codeOf, eventTypes } from '../../src/protocol/index.ts'
import type { ServerMessage } from '../support/wire-session.ts'
import type { ScenarioResult } from './runner.ts'

export interface TraceSection {
  /** The step as JSON. */
  heading: string
  lines: readonly string[]
}

export function traceOf({ base, steps, sessions, nodes }: ScenarioResult): TraceSection[] {
  const zxids = [...new Set(zxidsIn([steps.map(({ received }) => received), nodes]))].sort(ascending)
  const names: Names = { base, sessions, zxids }
  const sections = steps.map(({ step, received }) => ({
    heading: JSON.stringify(step),
    lines: received.flatMap((messages, i) => messages.map(each => `session ${i} receives ${lineOf(each, names)}`)),
  }))
  const nodeLines = nodes.map(({ path, data, acl }) =>
    [path.slice(base.length), lineOf({ reply: data }, names), lineOf({ reply: acl }, names)].join(' '),
  )
  return [...sections, { heading: 'all nodes', lines: nodeLines }]
}

/** Describes the first difference of two traces, or returns undefined if they are equal. */
export function difference(traces: Readonly<Record<string, readonly TraceSection[]>>): string | undefined {
  const [ours = [], theirs = []] = Object.values(traces)
  const at = theirs.findIndex(({ lines }, i) => lines.join('\n') !== ours[i]?.lines.join('\n'))
  if (at === -1) return undefined
  const steps = theirs.slice(0, at + 1).map(({ heading }) => `\n  ${heading}`)
  const sides = Object.entries(traces).map(
    ([name, sections]) => `\n${name}:${(sections[at]?.lines ?? []).map(line => `\n  ${line}`).join('')}`,
  )
  return `The traces differ at the last of${steps.join('')}${sides.join('')}`
}

interface Names {
  base: string
  sessions: readonly bigint[]
  /** The zxids in all Stats, ascending. */
  zxids: readonly bigint[]
}

const statZxids = ['czxid', 'mzxid', 'pzxid']
const times = ['ctime', 'mtime']

function lineOf(message: ServerMessage, names: Names): string {
  if ('event' in message) {
    const { type, state, path } = message.event
    const name = Object.entries(eventTypes).find(([, number]) => number === type)?.[0]
    return `${name ?? type} ${state} ${String(named('path', path, names))}`
  }
  const { zxid, err, body } = message.reply
  const outcome = err === 0 ? 'OK' : codeOf(err)
  return `${outcome} ${JSON.stringify(named('', body, names))} at ${indexOf(zxid, names)}`
}

/** The number of known transactions up to `zxid`. Transactions of other tests on the same server do not count. */
const indexOf = (zxid: bigint, { zxids }: Names): number => zxids.filter(each => each <= zxid).length

function named(key: string, value: unknown, names: Names): unknown {
  if (typeof value === 'bigint') {
    if (statZxids.includes(key)) return indexOf(value, names)
    const session = names.sessions.indexOf(value)
    return session === -1 ? `0x${BigInt.asUintN(64, value).toString(16)}` : `session ${session}`
  }
  if (typeof value === 'string') return value.startsWith(names.base) ? value.slice(names.base.length) || '/' : value
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (Array.isArray(value)) {
    const list = value.map(each => named('', each, names))
    // ZooKeeper promises no order of ephemeral nodes.
    return key === 'ephemerals' ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([each]) => !times.includes(each))
      .map(([each, content]) => [each, named(each, content, names)]),
  )
}

function zxidsIn(value: unknown, key = ''): bigint[] {
  if (typeof value === 'bigint') return statZxids.includes(key) ? [value] : []
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return []
  return Object.entries(value).flatMap(([each, content]) => zxidsIn(content, each))
}

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
