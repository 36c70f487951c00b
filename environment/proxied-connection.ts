// One connection through the fault proxy: two sockets and the frames between them.
import { connect, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { Framer, ReplyHeader, RequestHeader } from '../src/protocol/index.ts'
import { takePlan, type Plan } from './fault-plans.ts'
import type { PassedFrame, LinkConditions } from './fault-proxy.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

interface ProxyContext {
  index: number
  plans: Plan[]
  conditions: LinkConditions
  frames: PassedFrame[]
}

const FOUR_LETTERS = /^[a-z]{4}$/

export class ProxiedConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #context: ProxyContext
  readonly #opcodes = new Map<number, number>()
  readonly #planByXid = new Map<number, Plan>()
  readonly #awaitsFirstFrame = new Set(['client', 'server'])
  #held: Buffer[] | undefined
  /** True if the client has sent a four-letter word, which is no frame. */
  #isWord: boolean | undefined
  /** The pending writes of each direction: frames are written one after the other. */
  readonly #queues = { up: Promise.resolve(), down: Promise.resolve() }

  constructor(client: Socket, target: Address, context: ProxyContext) {
    this.#client = client
    this.#server = connect({ host: target.host, port: target.port, noDelay: true })
    this.#context = context
    const up = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onRequest(bytes.subarray(start, end)))
    const down = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onReply(bytes.subarray(start, end)))
    for (const [from, to, framer, direction] of [
      [client, this.#server, up, 'up'],
      [this.#server, client, down, 'down'],
    ] as const) {
      from.on('data', chunk => {
        if (from === client) this.#isWord ??= FOUR_LETTERS.test(chunk.toString('latin1'))
        if (this.#isWord !== true) framer.push(chunk)
        else if (![direction, 'both'].includes(context.conditions.blackHole ?? '')) to.write(chunk)
      })
      from.on('error', () => undefined)
      // Frames that arrived before the end are forwarded first.
      from.on('close', () => void this.#queues[direction].then(() => to.destroy()))
    }
  }

  reset(): void {
    this.#client.resetAndDestroy()
    this.#server.destroy()
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const frame of held) this.#forward('down', frame)
  }

  #onRequest(frame: Buffer): void {
    if (this.#isFirst('client')) {
      this.#record('client', frame, 0, undefined)
      this.#forward('up', frame)
      return
    }
    const { xid, type: opcode } = RequestHeader.decode(frame)
    this.#record('client', frame, xid, opcode)
    this.#opcodes.set(xid, opcode)
    const plan = takePlan(this.#context.plans, opcode)
    if (plan?.fault === 'dropRequest') {
      this.reset()
      plan.onInjected()
      return
    }
    if (plan !== undefined) this.#planByXid.set(xid, plan)
    this.#forward('up', frame)
  }

  #onReply(frame: Buffer): void {
    const xid = this.#isFirst('server') ? 0 : ReplyHeader.decode(frame).xid
    this.#record('server', frame, xid, this.#opcodes.get(xid))
    const plan = this.#planByXid.get(xid)
    this.#planByXid.delete(xid)
    if (plan?.fault === 'dropReply') this.reset()
    else if (plan?.fault === 'holdReply') this.#held ??= []
    if (this.#held !== undefined) this.#held.push(frame)
    else this.#forward('down', frame)
    plan?.onInjected()
  }

  #isFirst(from: 'client' | 'server'): boolean {
    return this.#awaitsFirstFrame.delete(from)
  }

  #record(from: 'client' | 'server', bytes: Buffer, xid: number, opcode: number | undefined): void {
    this.#context.frames.push({ from, connection: this.#context.index, at: performance.now(), xid, opcode, bytes })
  }

  #forward(direction: 'up' | 'down', frame: Buffer): void {
    const { blackHole } = this.#context.conditions
    if (blackHole === direction || blackHole === 'both') return
    const bytes = Buffer.alloc(4 + frame.length)
    bytes.writeInt32BE(frame.length)
    frame.copy(bytes, 4)
    this.#queues[direction] = this.#queues[direction].then(() => this.#deliver(direction, bytes))
  }

  async #deliver(direction: 'up' | 'down', bytes: Buffer): Promise<void> {
    const { conditions } = this.#context
    if (conditions.delay > 0) await delay(conditions.delay)
    if (direction === 'up') {
      this.#server.write(bytes)
      return
    }
    for (let at = 0; at < bytes.length && !this.#client.destroyed;) {
      const end = Math.min(bytes.length, at + conditions.slice, at + conditions.bytesLeft)
      if (end > at) this.#client.write(bytes.subarray(at, end))
      conditions.bytesLeft -= end - at
      at = end
      if (conditions.bytesLeft <= 0) {
        this.#truncate()
        return
      }
      if (conditions.slice < Infinity) await turn()
    }
  }

  /** Ends the client's socket after the bytes that were already written. */
  #truncate(): void {
    this.#context.conditions.bytesLeft = Infinity
    this.#client.end()
    this.#server.destroy()
  }
}
