// What goes wrong, because a test wants it to: from the n-th answer of a kind on, or behind a byte.
import type { operations, ServerErrorCode } from '../protocol/index.ts'
import type { Clock } from '../machine/clock.ts'

type OperationName = Exclude<keyof typeof operations, 'operation'>

/** An operation by its name or by that of the client's method ('create' is all that create nodes), the handshake, or an event. */
export type FaultKind = OperationName | 'connect' | 'event'

export interface FaultChoice {
  /** Which of those that come from now on; 1 is the next. Default 1. */
  nth?: number
  /** How many of them, one behind the other. Default 1; Infinity: until `clear()`. */
  times?: number
  /** Only those of this session. */
  session?: bigint
}

/** What is to become of an answer. */
export type Effect =
  | { is: 'hold' }
  | { is: 'delay'; ms: number }
  | { is: 'drop' }
  | { is: 'ignore' }
  | { is: 'replace'; code: ServerErrorCode }

/** Something that is to go wrong. */
export class Fault {
  readonly kind: FaultKind
  readonly effect: Effect
  readonly #session: bigint | undefined
  #before: number
  #left: number
  readonly #letGo: (() => void)[] = []
  #isReleased = false
  #settle: () => void = () => undefined
  /** Resolves when it has happened for the first time. */
  readonly met: Promise<void>

  constructor(kind: FaultKind, effect: Effect, { nth = 1, times = 1, session }: FaultChoice) {
    for (const [name, value] of Object.entries({ nth, times }))
      if (!(Number.isSafeInteger(value) || value === Infinity) || value < 1)
        throw new RangeError(`${name} is to be a whole number from 1 on, and is ${value}`)
    this.kind = kind
    this.effect = effect
    this.#session = session
    this.#before = nth
    this.#left = times
    this.met = new Promise(resolve => (this.#settle = resolve))
  }

  /** Is it this one? Counts. */
  takes(names: readonly string[], session: bigint | undefined): boolean {
    if (!names.includes(this.kind) || (this.#session ?? session) !== session) return false
    if (--this.#before > 0) return false
    this.#left--
    this.#settle()
    return true
  }

  /** It will not happen again. */
  get isOver(): boolean {
    return this.#left <= 0
  }

  /** `release` lets go what it holds. */
  holds(release: () => void): void {
    if (this.#isReleased) release()
    else this.#letGo.push(release)
  }

  /** Lets an answer that is held go on its way, and all that came behind it. Before it is met, there is nothing to hold any more. */
  release(): void {
    this.#isReleased = true
    for (const letGo of this.#letGo.splice(0)) letGo()
  }
}

export class Faults {
  readonly #clock: Clock
  readonly #waiting = new Set<Fault>()
  readonly #holding = new Set<Fault>()
  readonly #timers = new Set<unknown>()
  readonly #cuts: { bytes: number; session: bigint | undefined }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It is done; the answer, and all that follows on that connection, waits for `release()`. */
  hold(kind: FaultKind, choice: FaultChoice = {}): Fault {
    return this.#plan(kind, { is: 'hold' }, choice)
  }

  /** It is done; the answer, and all that follows on that connection, comes later. */
  delay(kind: FaultKind, ms: number, choice: FaultChoice = {}): Fault {
    return this.#plan(kind, { is: 'delay', ms }, choice)
  }

  /** It is done, and the connection ends where the answer would stand. */
  drop(kind: FaultKind, choice: FaultChoice = {}): Fault {
    return this.#plan(kind, { is: 'drop' }, choice)
  }

  /** It is not done, and the connection ends: to a client that looks like `drop`. */
  ignore(kind: Exclude<FaultKind, 'event'>, choice: FaultChoice = {}): Fault {
    return this.#plan(kind, { is: 'ignore' }, choice)
  }

  /** It is not done, and refused with `code`. */
  replace(kind: OperationName, code: ServerErrorCode, choice: FaultChoice = {}): Fault {
    return this.#plan(kind, { is: 'replace', code }, choice)
  }

  /** Ends the next connection that the server has something to say on behind so many more bytes, in the middle of a frame if need be. */
  cutAfter(bytes: number, { session }: Omit<FaultChoice, 'nth'> = {}): void {
    this.#cuts.push({ bytes, session })
  }

  /** Forgets what has not happened yet, and lets go what is held. */
  clear(): void {
    for (const fault of this.#holding) fault.release()
    this.#holding.clear()
    this.#waiting.clear()
    this.#cuts.length = 0
    for (const timer of this.#timers) this.#clock.clearTimeout(timer)
    this.#timers.clear()
  }

  /** @internal What is to become of an answer, asked by connections; `names` are all that it goes by. */
  meet(names: readonly string[], session: bigint | undefined): Fault | undefined {
    for (const fault of this.#waiting) {
      if (!fault.takes(names, session)) continue
      if (fault.isOver) this.#waiting.delete(fault)
      return fault
    }
    return undefined
  }

  /** @internal Calls `release` when a fault that holds back what a connection says lets go of it. */
  holdFor(fault: Fault, release: () => void): void {
    if (fault.effect.is !== 'delay') {
      this.#holding.add(fault)
      fault.holds(release)
      return
    }
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer)
      release()
    }, fault.effect.ms)
    this.#timers.add(timer)
  }

  /** @internal The bytes that a connection may still send, where somebody has said so. */
  takeCut(session: bigint | undefined): number | undefined {
    const at = this.#cuts.findIndex(each => (each.session ?? session) === session)
    return at < 0 ? undefined : this.#cuts.splice(at, 1)[0]?.bytes
  }

  #plan(kind: FaultKind, effect: Effect, choice: FaultChoice): Fault {
    const fault = new Fault(kind, effect, choice)
    this.#waiting.add(fault)
    return fault
  }
}
