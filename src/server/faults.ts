// What goes wrong, because a test wants it to: from the n-th answer of a kind on, or behind a byte.
import { errnos, operations, type ServerErrorCode } from '../protocol/index.ts'
import type { Clock } from '../runtime/clock.ts'

type OperationName = keyof typeof operations

/** An operation by its name or by that of the client's method ('create' is all that create nodes), the handshake, or an event. */
export type FaultKind = OperationName | 'connect' | 'event'

export interface FaultMatch {
  /** Which of those that come from now on, whatever else happens to them; 1 is the next. Default 1. */
  nth?: number
  /** How many of them, one behind the other. Default 1; Infinity: until `release()` or `clear()`. */
  times?: number
  /** Only those of this session. */
  session?: bigint
}

/** What is to become of an answer. */
export type FaultEffect =
  | { is: 'hold' }
  | { is: 'delay'; ms: number }
  | { is: 'drop' }
  | { is: 'ignore' }
  | { is: 'replace'; code: ServerErrorCode }
  | { is: 'cut'; bytes: number }

const operationNames = Object.keys(operations)
const allKinds = [...operationNames, 'connect', 'event']

/** What each may happen to. */
const kindsOf: Readonly<Record<FaultEffect['is'], readonly string[]>> = {
  ...{ hold: allKinds, delay: allKinds, drop: allKinds, cut: ['anything'] },
  ...{ ignore: [...operationNames, 'connect'], replace: operationNames },
}

/** Something that is to go wrong. */
export class Fault {
  /** 'anything' is whatever a server has to say something on. */
  readonly kind: FaultKind | 'anything'
  readonly effect: FaultEffect
  readonly #session: bigint | undefined
  readonly #clock: Clock
  #before: number
  #left: number
  /** Each lets go one of the answers that it holds. */
  readonly #held = new Set<() => void>()
  #isReleased = false
  #resolve: () => void = () => undefined
  #reject: (reason: Error) => void = () => undefined
  /** Resolves when it has happened for the first time; rejects when it is released or cleared before that, and so never happens. */
  readonly triggered: Promise<void>

  /** @internal */
  constructor(clock: Clock, kind: Fault['kind'], effect: FaultEffect, { nth = 1, times = 1, session }: FaultMatch) {
    if (!kindsOf[effect.is].includes(kind)) throw new RangeError(`there is no ${kind} to ${effect.is}`)
    requireWhole({ nth, times }, 1)
    this.kind = kind
    this.effect = effect
    this.#session = session
    this.#clock = clock
    this.#before = nth
    this.#left = times
    this.triggered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever asks hears of it; nobody has to.
    this.triggered.catch(() => undefined)
  }

  /** It will not happen again. */
  get isOver(): boolean {
    return this.#isReleased || this.#left <= 0
  }

  /** Something waits for it to let go. */
  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** @internal Is it this one's turn? Counts each that it could have been. */
  isDue(names: readonly string[], session: bigint | undefined): boolean {
    if (this.isOver || (this.#session ?? session) !== session) return false
    if (this.kind !== 'anything' && !names.includes(this.kind)) return false
    return --this.#before <= 0
  }

  /** @internal It happens. */
  take(): void {
    this.#left--
    this.#resolve()
  }

  /** @internal Calls `letGo` when what a connection says need not wait for it any more. */
  hold(letGo: () => void): void {
    // By whoever heard of the transaction, before the answer was written.
    if (this.#isReleased) return letGo()
    const { effect } = this
    let timer: unknown
    const held = () => {
      this.#held.delete(held)
      this.#clock.clearTimeout(timer)
      letGo()
    }
    this.#held.add(held)
    if (effect.is === 'delay') timer = this.#clock.setTimeout(held, effect.ms)
  }

  /** Lets an answer that is held go on its way, and all that came behind it. It happens no more. */
  release(): void {
    this.#isReleased = true
    this.#reject(new Error(`${this.effect.is} ${this.kind}: given up before it happened`))
    for (const letGo of this.#held) letGo()
  }
}

export class Faults {
  readonly #clock: Clock
  /** In the order in which they were planned: those that wait, and those that hold something. */
  readonly #planned = new Set<Fault>()

  /** @internal */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It is done; the answer, and all that follows on that connection, waits for `release()`. */
  hold(kind: FaultKind, choice: FaultMatch = {}): Fault {
    return this.#plan(kind, { is: 'hold' }, choice)
  }

  /** It is done; the answer, and all that follows on that connection, comes so many milliseconds later, or at `release()`. */
  delay(kind: FaultKind, ms: number, choice: FaultMatch = {}): Fault {
    if (!(ms >= 0 && ms <= 0x7fff_ffff)) throw new RangeError(`ms is to be from 0 to 2147483647, and is ${ms}`)
    return this.#plan(kind, { is: 'delay', ms }, choice)
  }

  /** It is done, and the connection ends where the answer would stand. */
  drop(kind: FaultKind, choice: FaultMatch = {}): Fault {
    return this.#plan(kind, { is: 'drop' }, choice)
  }

  /** It is not done, and the connection ends: to a client that looks like `drop`. */
  ignore(kind: Exclude<FaultKind, 'event'>, choice: FaultMatch = {}): Fault {
    return this.#plan(kind, { is: 'ignore' }, choice)
  }

  /** It is not done, and refused with `code`. */
  replace(kind: OperationName, code: ServerErrorCode, choice: FaultMatch = {}): Fault {
    if (!Object.hasOwn(errnos, code)) throw new RangeError(`${code} is no error of a server's`)
    return this.#plan(kind, { is: 'replace', code }, choice)
  }

  /**
   * Ends the next connection that the server has something to say on behind so many more bytes, in the middle of a frame if need be.
   * Bytes that are held before it are not counted.
   */
  cutAfter(bytes: number, choice: FaultMatch = {}): Fault {
    requireWhole({ bytes }, 0)
    return this.#plan('anything', { is: 'cut', bytes }, choice)
  }

  /** Forgets what has not happened yet, and lets go what is held. */
  clear(): void {
    for (const fault of this.#planned) fault.release()
    this.#planned.clear()
  }

  /** @internal What is to become of an answer, asked by connections; `names` are all that it goes by. */
  match(names: readonly string[], session: bigint | undefined): Fault | undefined {
    let taken: Fault | undefined
    for (const fault of this.#planned)
      if (fault.isOver && !fault.isHolding) this.#planned.delete(fault)
      else if (fault.isDue(names, session)) taken ??= fault
    taken?.take()
    return taken
  }

  #plan(kind: Fault['kind'], effect: FaultEffect, choice: FaultMatch): Fault {
    const fault = new Fault(this.#clock, kind, effect, choice)
    this.#planned.add(fault)
    return fault
  }
}

function requireWhole(named: Readonly<Record<string, number>>, least: number): void {
  for (const [name, value] of Object.entries(named))
    if (!(Number.isSafeInteger(value) || value === Infinity) || value < least)
      throw new RangeError(`${name} is to be a whole number from ${least} on, and is ${value}`)
}
