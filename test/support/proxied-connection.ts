// One connection through the fault proxy: two sockets, and the frames between them.
import { connect, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { Framer, ReplyHeader, RequestHeader } from '../../src/protocol/index.ts'
import type { PassedFrame, Plan, Weather } from './fault-proxy.ts'
import type { Address } from './wire-session.ts'

interface Surroundings {
  index: number
  plans: Plan[]
  weather: Weather
  frames: PassedFrame[]
}

export class ProxiedConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #around: Surroundings
  readonly #opcodes = new Map<number, number>()
  readonly #marked = new Map<number, Plan>()
  readonly #firstFrom = new Set(['client', 'server'])
  #held: Buffer[] | undefined
  /** Each direction hands on one frame after the other. */
  readonly #busy = { up: Promise.resolve(), down: Promise.resolve() }

  constructor(client: Socket, target: Address, around: Surroundings) {
    this.#client = client
    this.#server = connect({ host: target.host, port: target.port, noDelay: true })
    this.#around = around
    const up = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onRequest(bytes.subarray(start, end)))
    const down = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onReply(bytes.subarray(start, end)))
    for (const [from, to, framer, direction] of [
      [client, this.#server, up, 'up'],
      [this.#server, client, down, 'down'],
    ] as const) {
      from.on('data', chunk => framer.push(chunk))
      from.on('error', () => undefined)
      // What came before the end is handed on before it.
      from.on('close', () => void this.#busy[direction].then(() => to.destroy()))
    }
  }

  reset(): void {
    this.#client.resetAndDestroy()
    this.#server.destroy()
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const frame of held) this.#pass('down', frame)
  }

  #onRequest(frame: Buffer): void {
    if (this.#isFirst('client')) {
      this.#note('client', frame, 0, undefined)
      this.#pass('up', frame)
      return
    }
    const { xid, type: opcode } = RequestHeader.decode(frame)
    this.#note('client', frame, xid, opcode)
    this.#opcodes.set(xid, opcode)
    const plan = this.#due(opcode)
    if (plan?.fault === 'dropRequest') {
      this.reset()
      plan.happened()
      return
    }
    if (plan !== undefined) this.#marked.set(xid, plan)
    this.#pass('up', frame)
  }

  /** The plan that this request is the last one of. */
  #due(opcode: number): Plan | undefined {
    const { plans } = this.#around
    const plan = plans.find(each => each.opcode === opcode)
    if (plan === undefined || --plan.countdown > 0) return undefined
    plans.splice(plans.indexOf(plan), 1)
    return plan
  }

  #onReply(frame: Buffer): void {
    const xid = this.#isFirst('server') ? 0 : ReplyHeader.decode(frame).xid
    this.#note('server', frame, xid, this.#opcodes.get(xid))
    const plan = this.#marked.get(xid)
    this.#marked.delete(xid)
    if (plan?.fault === 'dropReply') this.reset()
    else if (plan?.fault === 'holdReply') this.#held ??= []
    if (this.#held !== undefined) this.#held.push(frame)
    else this.#pass('down', frame)
    plan?.happened()
  }

  #isFirst(from: 'client' | 'server'): boolean {
    return this.#firstFrom.delete(from)
  }

  #note(from: 'client' | 'server', bytes: Buffer, xid: number, opcode: number | undefined): void {
    this.#around.frames.push({ from, connection: this.#around.index, xid, opcode, bytes })
  }

  #pass(direction: 'up' | 'down', frame: Buffer): void {
    const { blackHole } = this.#around.weather
    if (blackHole === direction || blackHole === 'both') return
    const bytes = Buffer.alloc(4 + frame.length)
    bytes.writeInt32BE(frame.length)
    frame.copy(bytes, 4)
    this.#busy[direction] = this.#busy[direction].then(() => this.#handOn(direction, bytes))
  }

  async #handOn(direction: 'up' | 'down', bytes: Buffer): Promise<void> {
    const { weather } = this.#around
    if (weather.delay > 0) await delay(weather.delay)
    if (direction === 'up') {
      this.#server.write(bytes)
      return
    }
    for (let at = 0; at < bytes.length && !this.#client.destroyed;) {
      const end = Math.min(bytes.length, at + weather.slice, at + weather.bytesLeft)
      if (end > at) this.#client.write(bytes.subarray(at, end))
      weather.bytesLeft -= end - at
      at = end
      if (weather.bytesLeft <= 0) {
        this.#cut()
        return
      }
      if (weather.slice < Infinity) await turn()
    }
  }

  /** What was written still arrives. */
  #cut(): void {
    this.#around.weather.bytesLeft = Infinity
    this.#client.end()
    this.#server.destroy()
  }
}
