// What a process or the servers do after each of their inputs, asked of the real code once: it runs only for an input that it has
// not had in this state before. Then it is continued from a run that is in this state, or run again from its start.

/** A state, and how it was reached first. */
export interface Reached<I, V> {
  readonly id: number
  readonly view: V
  readonly from: { readonly state: Reached<I, V>; readonly input: I } | undefined
  readonly next: Map<string, Edge<I, V>>
}

/** What follows an input: the view is that of this input, and the state may have been reached in other ways too. */
export interface Edge<I, V> {
  readonly view: V
  readonly state: Reached<I, V>
}

interface Machine<I, V> {
  take(input: I): Promise<void>
  /** What is seen of it after the last input. */
  readonly view: V
}

/** How many runs are kept to be continued. */
const KEPT = 300

export class Automaton<I, V> {
  readonly #start: () => Promise<Machine<I, V>>
  readonly #keyOf: (input: I) => string
  readonly #nameOf: (view: V) => string | undefined
  readonly #states = new Map<string, Reached<I, V>>()
  /** Runs of the code that are in a state, by its number. */
  readonly #runs = new Map<number, Machine<I, V>>()
  #count = 0
  #first: I | undefined

  /**
   * @param keyOf two inputs with the same key are the same
   * @param nameOf two states with the same name are the same. Without a name, a state is reached in one way only.
   */
  constructor(
    start: () => Promise<Machine<I, V>>,
    keyOf: (input: I) => string,
    nameOf: (view: V) => string | undefined = () => undefined,
  ) {
    this.#start = start
    this.#keyOf = keyOf
    this.#nameOf = nameOf
  }

  /** Starts with this input. */
  async begin(input: I): Promise<Edge<I, V>> {
    this.#first = input
    const machine = await this.#start()
    await machine.take(input)
    return this.#reach(machine, undefined, input)
  }

  /** Returns what follows. Only if nobody has asked before, it is a promise. */
  after(state: Reached<I, V>, input: I): Edge<I, V> | Promise<Edge<I, V>> {
    return state.next.get(this.#keyOf(input)) ?? this.#run(state, input)
  }

  async #run(state: Reached<I, V>, input: I): Promise<Edge<I, V>> {
    const machine = this.#runs.get(state.id) ?? (await this.#again(state))
    this.#runs.delete(state.id)
    await machine.take(input)
    const edge = this.#reach(machine, state, input)
    state.next.set(this.#keyOf(input), edge)
    return edge
  }

  #reach(machine: Machine<I, V>, before: Reached<I, V> | undefined, input: I): Edge<I, V> {
    const { view } = machine
    const name = this.#nameOf(view)
    let state = name === undefined ? undefined : this.#states.get(name)
    if (state === undefined) {
      state = { id: ++this.#count, view, from: before && { state: before, input }, next: new Map() }
      if (name !== undefined) this.#states.set(name, state)
    }
    if (this.#runs.size >= KEPT) for (const [oldest] of this.#runs) if (this.#runs.delete(oldest)) break
    this.#runs.set(state.id, machine)
    return { view, state }
  }

  async #again(state: Reached<I, V>): Promise<Machine<I, V>> {
    const inputs: I[] = []
    let at = state
    for (; at.from !== undefined; at = at.from.state) inputs.push(at.from.input)
    const machine = await this.#start()
    await machine.take(this.#first as I)
    for (const input of inputs.reverse()) await machine.take(input)
    return machine
  }
}
