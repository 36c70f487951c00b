// Injects faults at exact frames between a client and a server: a `dial` that parses the frames of its connections.
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Dial, Transport, TransportHandler } from '../../src/transport/transport.ts'
import { Framer, RequestHeader, xids } from '../../src/protocol/index.ts'
import { FaultPlans, takePlan, type Counted, type Plan } from '../../environment/fault-plans.ts'

/** Controls every connection of one client. */
export class FaultyDial extends FaultPlans {
  readonly #dial: Dial
  #transport: FaultyTransport | undefined
  #refusing = false

  constructor(dial: Dial = dialTcp) {
    super()
    this.#dial = dial
  }

  readonly dial: Dial = (address, handler) => {
    const transport = new FaultyTransport(handler, this.plans)
    this.#transport = transport
    if (this.#refusing) queueMicrotask(() => transport.cut())
    else transport.open(this.#dial(address, transport))
    return transport
  }

  /**
   * Holds the k-th such request from now, and all later ones, until {@link deliver}. Resolves when it is to be sent.
   */
  holdRequest(opcode: Counted, k = 1): Promise<void> {
    return this.plan('holdRequest', opcode, k)
  }

  /**
   * Holds the next event and everything after it, including the connection's end, until {@link deliver}. Resolves when
   * the event arrives.
   */
  holdEvent(): Promise<void> {
    return this.plan('holdEvent', xids.notification, 1)
  }

  /** Delivers the frames that are held, in both directions. */
  deliver(): void {
    this.#transport?.deliver()
  }

  cut(): void {
    this.#transport?.cut()
  }

  /** Cuts the connection and refuses all later ones until {@link accept}. */
  refuse(): void {
    this.#refusing = true
    this.cut()
  }

  accept(): void {
    this.#refusing = false
  }

  /** Removes all plans and ends all faults. */
  heal(): void {
    this.plans.length = 0
    this.accept()
    this.deliver()
  }
}

class FaultyTransport implements Transport, TransportHandler {
  readonly #handler: TransportHandler
  readonly #plans: Plan[]
  readonly #framer = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onFrame(bytes.subarray(start, end)))
  readonly #planByXid = new Map<number, Plan>()
  #transport: Transport | undefined
  #isFirst = true
  #heldRequests: Buffer[] | undefined
  #held: Buffer[] | undefined
  #holdsClose = false
  #heldClose: { cause?: Error } | undefined
  #isClosed = false

  constructor(handler: TransportHandler, plans: Plan[]) {
    this.#handler = handler
    this.#plans = plans
  }

  open(transport: Transport): void {
    this.#transport = transport
  }

  // From the client

  write(bytes: Uint8Array): void {
    const frames = Buffer.from(bytes)
    for (let at = 0; at < frames.length && !this.#isClosed;) {
      const end = at + 4 + frames.readInt32BE(at)
      this.#send(frames.subarray(at, end))
      at = end
    }
  }

  #send(frame: Buffer): void {
    if (!this.#isFirst) {
      const { xid, type } = RequestHeader.decode(frame.subarray(4))
      const plan = takePlan(this.#plans, type)
      if (plan?.fault === 'dropRequest') {
        this.cut()
        plan.onInjected()
        return
      }
      if (plan?.fault === 'holdRequest') {
        this.#heldRequests ??= []
        plan.onInjected()
      } else if (plan !== undefined) this.#planByXid.set(xid, plan)
    }
    this.#isFirst = false
    // Copied, because the client reuses the memory.
    if (this.#heldRequests !== undefined) this.#heldRequests.push(Buffer.from(frame))
    else this.#transport?.write(frame)
  }

  destroy(): void {
    this.#isClosed = true
    this.#transport?.destroy()
  }

  // From the server

  opened(): void {
    if (!this.#isClosed) this.#handler.opened()
  }

  received(chunk: Buffer): void {
    if (!this.#isClosed) this.#framer.push(chunk)
  }

  closed(cause?: Error): void {
    if (this.#isClosed) return
    if (this.#holdsClose) {
      this.#heldClose = cause ? { cause } : {}
      return
    }
    this.#isClosed = true
    this.#handler.closed(cause)
  }

  #onFrame(frame: Buffer): void {
    if (this.#isClosed) return
    const xid = frame.readInt32BE(0)
    const plan = xid === xids.notification ? this.#takeEventPlan() : this.#planByXid.get(xid)
    this.#planByXid.delete(xid)
    if (plan?.fault === 'dropReply') this.cut()
    else if (plan !== undefined) this.#held ??= []
    if (plan?.fault === 'holdEvent') this.#holdsClose = true
    // The frame is copied because the transport reuses the memory of a chunk.
    if (this.#held !== undefined) this.#held.push(Buffer.from(frame))
    else this.#forward(frame)
    plan?.onInjected()
  }

  #takeEventPlan(): Plan | undefined {
    const index = this.#plans.findIndex(({ fault }) => fault === 'holdEvent')
    return index === -1 ? undefined : this.#plans.splice(index, 1)[0]
  }

  deliver(): void {
    for (const frame of this.#heldRequests ?? []) this.#transport?.write(frame)
    this.#heldRequests = undefined
    const held = this.#held ?? []
    const end = this.#heldClose
    this.#held = this.#heldClose = undefined
    this.#holdsClose = false
    for (const frame of held) this.#forward(frame)
    if (end !== undefined) this.closed(end.cause)
  }

  #forward(frame: Buffer): void {
    if (this.#isClosed) return
    const prefix = Buffer.alloc(4)
    prefix.writeInt32BE(frame.length)
    this.#handler.received(Buffer.concat([prefix, frame]))
  }

  cut(): void {
    this.#transport?.destroy()
    this.closed(new Error('cut by the test'))
  }
}
