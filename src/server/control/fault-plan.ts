// The planned faults of a server, and which of them affects a reply or an event.
import { badArguments, errnos, operations, type ServerErrorCode } from '../../protocol/index.ts'
import { aDelay, mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Fault, FaultEffect, FaultKind, FaultMatch, Faults, OperationName } from './faults.ts'

const operationNames = Object.keys(operations)
const allKinds = [...operationNames, 'connect', 'event']

/** The kinds that each effect can apply to. */
const kindsOf: Readonly<Record<FaultEffect['is'], readonly string[]>> = {
  ...{ hold: allKinds, delay: allKinds, drop: allKinds, cut: ['anything'] },
  ...{ ignore: [...operationNames, 'connect'], replace: operationNames },
}

const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least

const matchChecks: Checks<FaultMatch> = {
  nth: mustBe('a whole number of at least 1', value => isWhole(value, 1)),
  times: mustBe('a whole number of at least 1, or Infinity', value => value === Infinity || isWhole(value, 1)),
  session: mustBe('the id of a session, a bigint', value => typeof value === 'bigint'),
}
const bytesCheck = mustBe('a whole number of at least 0', value => isWhole(value, 0))

export class PlannedFault implements Fault {
  readonly kind: Fault['kind']
  readonly effect: FaultEffect
  readonly triggered: Promise<void>
  readonly #session: bigint | undefined
  readonly #clock: Clock
  /** How many matching occurrences remain until the fault is due. */
  #countdown: number
  /** How many times the fault can still happen. */
  #remaining: number
  /** One callback for each held reply or event, which sends it. */
  readonly #held = new Set<() => void>()
  #isReleased = false
  #resolve: () => void = () => undefined
  #reject: (reason: Error) => void = () => undefined

  constructor(clock: Clock, kind: Fault['kind'], effect: FaultEffect, { nth = 1, times = 1, session }: FaultMatch) {
    this.kind = kind
    this.effect = effect
    this.#session = session
    this.#clock = clock
    this.#countdown = nth
    this.#remaining = times
    this.triggered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A test need not await the promise: its rejection must not be reported as unhandled.
    this.triggered.catch(() => undefined)
  }

  get isOver(): boolean {
    return this.#isReleased || this.#remaining <= 0
  }

  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** Counts an occurrence if it matches, and returns true if the fault is due. */
  isDue(names: readonly string[], session: bigint | undefined): boolean {
    if (this.isOver || (this.#session ?? session) !== session) return false
    if (this.kind !== 'anything' && !names.includes(this.kind)) return false
    return --this.#countdown <= 0
  }

  /** Notes that the fault has happened. */
  trigger(): void {
    this.#remaining--
    this.#resolve()
  }

  /** Calls `send` when the fault no longer holds the reply or event. */
  hold(send: () => void): void {
    // onTransaction can release the fault before the reply is written.
    if (this.#isReleased) return send()
    const { effect } = this
    let timer: unknown
    const release = () => {
      this.#held.delete(release)
      this.#clock.clearTimeout(timer)
      send()
    }
    this.#held.add(release)
    if (effect.is === 'delay') timer = this.#clock.setTimeout(release, effect.ms)
  }

  /** Sends everything that is held. Rejects `triggered` if the fault has not happened. */
  release(): void {
    this.#isReleased = true
    this.#reject(new Error(`${this.effect.is} ${this.kind}: released or cleared before it happened`))
    for (const release of this.#held) release()
  }
}

/** Finds the planned fault that affects a reply or an event. */
export interface FaultMatcher {
  /**
   * Counts an occurrence, and returns the fault that affects it, or undefined.
   * @param names the names of its kind: of the operation and of the client's method
   */
  match(names: readonly string[], session: bigint | undefined): PlannedFault | undefined
}

export class FaultPlan implements Faults, FaultMatcher {
  readonly #clock: Clock
  /** Faults that can still happen or hold something, in the order of planning. `match` removes the others. */
  readonly #planned = new Set<PlannedFault>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  hold(kind: FaultKind, match: FaultMatch = {}): Fault {
    return this.#plan('hold', kind, { is: 'hold' }, match)
  }

  delay(kind: FaultKind, ms: number, match: FaultMatch = {}): Fault {
    return this.#plan('delay', kind, { is: 'delay', ms }, match, problemOf('ms', aDelay(ms)))
  }

  drop(kind: FaultKind, match: FaultMatch = {}): Fault {
    return this.#plan('drop', kind, { is: 'drop' }, match)
  }

  ignore(kind: Exclude<FaultKind, 'event'>, match: FaultMatch = {}): Fault {
    return this.#plan('ignore', kind, { is: 'ignore' }, match)
  }

  replace(kind: OperationName, code: ServerErrorCode, match: FaultMatch = {}): Fault {
    const problem = Object.hasOwn(errnos, code)
      ? undefined
      : `code must be an error code that servers send, not ${code}`
    return this.#plan('replace', kind, { is: 'replace', code }, match, problem)
  }

  cutAfter(bytes: number, match: FaultMatch = {}): Fault {
    return this.#plan('cutAfter', 'anything', { is: 'cut', bytes }, match, problemOf('bytes', bytesCheck(bytes)))
  }

  clear(): void {
    for (const fault of this.#planned) fault.release()
    this.#planned.clear()
  }

  match(names: readonly string[], session: bigint | undefined): PlannedFault | undefined {
    let first: PlannedFault | undefined
    for (const fault of this.#planned)
      if (fault.isOver && !fault.isHolding) this.#planned.delete(fault)
      else if (fault.isDue(names, session)) first ??= fault
    first?.trigger()
    return first
  }

  /** @throws ZooKeeperError BADARGUMENTS if `problem` is set, or the kind or an option is invalid */
  #plan(method: keyof Faults, kind: Fault['kind'], effect: FaultEffect, match: FaultMatch, problem?: string): Fault {
    const found = kindProblem(effect, kind) ?? problem ?? optionsProblem(match, matchChecks)
    if (found !== undefined) throw badArguments(`faults.${method}`, '', found)
    const fault = new PlannedFault(this.#clock, kind, effect, match)
    this.#planned.add(fault)
    return fault
  }
}

function kindProblem(effect: FaultEffect, kind: Fault['kind']): string | undefined {
  const kinds = kindsOf[effect.is]
  if (kinds.includes(kind)) return undefined
  const others = kinds.filter(each => !operationNames.includes(each)).map(each => ` or '${each}'`)
  return `kind must be an operation such as 'create'${others.join('')}, not '${kind}'`
}

const problemOf = (name: string, problem: string | undefined): string | undefined => problem && `${name} ${problem}`
