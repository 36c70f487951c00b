// The values of TLA+. Equal values have equal keys.

export type Value = number | string | boolean | SetValue | FunctionValue

export class SetValue {
  readonly items: ReadonlyMap<string, Value>
  readonly key: string

  constructor(items: Iterable<Value>) {
    const all = new Map<string, Value>()
    for (const each of items) all.set(keyOf(each), each)
    this.items = all
    this.key = `{${[...all.keys()].sort().join()}}`
  }

  has(value: Value): boolean {
    return this.items.has(keyOf(value))
  }

  [Symbol.iterator](): Iterator<Value> {
    return this.items.values()
  }
}

/** A function; a sequence is one whose domain is 1 to its length. */
export class FunctionValue {
  readonly entries: ReadonlyMap<string, readonly [argument: Value, value: Value]>
  readonly key: string

  constructor(entries: Iterable<readonly [Value, Value]>) {
    this.entries = new Map([...entries].map(each => [keyOf(each[0]), each]))
    this.key = `[${Array.from(this.entries, ([key, [, value]]) => `${key}:${keyOf(value)}`)
      .sort()
      .join()}]`
  }

  at(argument: Value): Value {
    const entry = this.entries.get(keyOf(argument))
    if (entry === undefined) throw new Error(`${keyOf(argument)} is not in the domain of ${this.key}`)
    return entry[1]
  }

  /** The values of a sequence in their order. */
  get sequence(): Value[] {
    return Array.from({ length: this.entries.size }, (_, i) => this.at(i + 1))
  }
}

export const keyOf = (value: Value): string =>
  typeof value === 'object' ? value.key : typeof value === 'string' ? `"${value}"` : String(value)

export const sequenceOf = (values: readonly Value[]): FunctionValue =>
  new FunctionValue(values.map((value, i) => [i + 1, value]))
