// Counts the frames of a phase. Pure.
import { opcodes, xids } from '../../src/protocol/index.ts'
import type { PassedFrame } from '../../environment/fault-proxy.ts'
import { noCounts, type Counts } from '../measure/frame-counter.ts'

/** A frame, and the contender whose connection it passed. */
export interface ContenderFrame extends PassedFrame {
  who: number
}

export interface Tally extends Counts {
  /** The number of requests of each kind, in the order of their names. */
  requests: Record<string, number>
}

const LENGTH_BYTES = 4

const names = new Map<number, string>(Object.entries(opcodes).map(([name, opcode]) => [opcode, name]))

/** True for all frames except pings and handshakes, which belong to no recipe. */
export const isWork = ({ xid }: Pick<PassedFrame, 'xid'>): boolean => xid !== xids.ping && xid !== 0

const kindOf = ({ opcode }: Pick<PassedFrame, 'opcode'>): string => names.get(opcode ?? NaN) ?? String(opcode)

export function tallyOf(frames: readonly PassedFrame[]): Tally {
  const tally = noCounts()
  const requests = new Map<string, number>()
  for (const frame of frames.filter(isWork)) {
    const bytes = LENGTH_BYTES + frame.bytes.length
    if (frame.from === 'client') {
      const kind = kindOf(frame)
      tally.framesSent++
      tally.bytesSent += bytes
      requests.set(kind, (requests.get(kind) ?? 0) + 1)
    } else {
      tally.framesReceived++
      tally.bytesReceived += bytes
      if (frame.xid === xids.notification) tally.notifications++
    }
  }
  return { ...tally, requests: Object.fromEntries([...requests].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** The creates of one contender, in order. */
export const createsOf = (frames: readonly ContenderFrame[], who: number): number[] =>
  frames.flatMap(frame =>
    frame.who === who && frame.from === 'client' && /^create/.test(kindOf(frame)) ? [frame.opcode ?? NaN] : [],
  )
