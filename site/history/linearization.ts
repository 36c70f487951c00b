// Judges a history of one object: is there an order, of one operation after another, in which each has its result? This
// is the search of Wing and Gong, which tries each operation that may be next, and no pair of a set and a state twice.
// May import: site/world/picture.ts, site/world/story.ts.

/** An operation on an object, as its client saw it. Times are of any unit. */
export interface Timed<Result> {
  readonly client: number
  readonly from: number
  /** When its client had the result. Undefined if it has none: the operation may have had its effect, or not. */
  readonly until: number | undefined
  /** Undefined if and only if `until` is. */
  readonly result: Result | undefined
}

/** What an object does if it executes one operation after another. A state is what `JSON.stringify` can tell apart. */
export interface SequentialObject<State, Operation> {
  readonly initial: State
  /** Returns the states after the operation: none if it cannot have its result in this state. */
  readonly after: (state: State, operation: Operation) => readonly State[]
}

/** An operation at its place in an order. */
export interface Placed<State, Operation> {
  readonly operation: Operation
  /** The time at which it can have happened: between its call and its result. */
  readonly at: number
  /** The state of the object after it. */
  readonly state: State
}

export type Judgement<State, Operation> =
  | { readonly isLegal: true; readonly order: readonly Placed<State, Operation>[] }
  | {
      readonly isLegal: false
      /** The operation with whose result the last order was gone. Until that time, the history was legal. */
      readonly misfit: Operation
      /** The operations that had their results before it was called, and so have their places before it. */
      readonly before: readonly Operation[]
      /** The states that the object can have where the operation may be placed. It has another result in each. */
      readonly states: readonly State[]
    }

/** @param operations at most some tens. Those of one client are in the order in which it called them */
export function judge<State, Operation extends Timed<unknown>>(
  object: SequentialObject<State, Operation>,
  operations: readonly Operation[],
): Judgement<State, Operation> {
  const order = orderOf(object, operations)
  if (order !== undefined) return { isLegal: true, order: timed(order) }
  const answered = operations.filter(({ until }) => until !== undefined).sort((a, b) => endOf(a) - endOf(b))
  // Each beginning of a legal history is legal. So the last order is gone with one result.
  for (const [i, misfit] of answered.entries()) {
    const end = endOf(misfit)
    const known = new Set(answered.slice(0, i + 1))
    const begun = operations.filter(({ from }) => from <= end).map(each => (known.has(each) ? each : unanswered(each)))
    if (orderOf(object, begun) !== undefined) continue
    const before = operations.filter(other => precedes(other, misfit))
    return { isLegal: false, misfit, before, states: statesAt(object, begun, misfit) }
  }
  throw new Error('a history without an order has a result with which the last order is gone')
}

const endOf = ({ until = Infinity }: Timed<unknown>): number => until

const unanswered = <Operation extends Timed<unknown>>(operation: Operation): Operation => ({
  ...operation,
  until: undefined,
  result: undefined,
})

/** True if one operation had its result before the other was called. A client calls one after another. */
const precedes = (one: Timed<unknown>, other: Timed<unknown>): boolean =>
  endOf(one) < other.from || (one.client === other.client && one !== other && endOf(one) <= other.from)

type Step<State, Operation> = Omit<Placed<State, Operation>, 'at'>

/** Returns an order of all operations that have a result, and of some of the others. Undefined if there is none. */
function orderOf<State, Operation extends Timed<unknown>>(
  { initial, after }: SequentialObject<State, Operation>,
  operations: readonly Operation[],
): Step<State, Operation>[] | undefined {
  /** The sets of operations and the states from which no order leads on. */
  const dead = new Set<string>()
  const search = (left: readonly Operation[], state: State): Step<State, Operation>[] | undefined => {
    if (left.every(({ until }) => until === undefined)) return []
    const key = `${left.map(each => operations.indexOf(each)).join()} ${JSON.stringify(state)}`
    if (dead.has(key)) return undefined
    for (const operation of left) {
      if (left.some(other => precedes(other, operation))) continue
      const rest = left.filter(each => each !== operation)
      for (const next of after(state, operation)) {
        const order = search(rest, next)
        if (order !== undefined) return [{ operation, state: next }, ...order]
      }
    }
    dead.add(key)
    return undefined
  }
  return search(operations, initial)
}

/** Returns the states that the object can have where an operation may be placed, in all orders of the others. */
function statesAt<State, Operation extends Timed<unknown>>(
  object: SequentialObject<State, Operation>,
  operations: readonly Operation[],
  placed: Operation,
): State[] {
  const found = new Map<string, State>()
  for (;;) {
    // In place of the operation stands one that only looks, and accepts no state that is known.
    let seen: State | undefined
    const after = (state: State, operation: Operation) => {
      if (operation !== placed) return object.after(state, operation)
      if (found.has(JSON.stringify(state))) return []
      return [state]
    }
    const order = orderOf({ initial: object.initial, after }, operations)
    if (order === undefined) return [...found.values()]
    for (const { operation, state } of order) if (operation === placed) seen = state
    found.set(JSON.stringify(seen), seen as State)
  }
}

/** Gives each operation a time between its call and its result, later than that of the one before it. */
function timed<State, Operation extends Timed<unknown>>(
  order: readonly Step<State, Operation>[],
): Placed<State, Operation>[] {
  const last = Math.max(...order.flatMap(({ operation: { from, until = from } }) => [from, until]))
  return order.map((step, i) => {
    const earliest = Math.max(...order.slice(0, i + 1).map(({ operation }) => operation.from))
    const latest = Math.min(last, ...order.slice(i).map(({ operation }) => endOf(operation)))
    return { ...step, at: earliest + ((latest - earliest) * (i + 1)) / (order.length + 1) }
  })
}
