// Executes a specification: the states in which it begins, and the steps from a state. Like TLC, it takes the conjuncts of
// an action in their order: the first `x' = e` gives x its next value.
import type { Bound, Expression, Module } from './syntax.ts'
import { FunctionValue, keyOf, sequenceOf, SetValue, type Value } from './values.ts'

export type State = ReadonlyMap<string, Value>

/** A step of the specification: its action, such as `Create(1)`, and the state after it. */
export interface Step {
  readonly action: string
  readonly state: State
}

/** The values of names: of constants, bound variables, parameters and definitions in LET. */
interface Scope {
  readonly name: string
  readonly value:
    Value | { readonly body: Expression; readonly parameters: readonly string[]; readonly scope: Scope | undefined }
  readonly outer: Scope | undefined
}

/** What is known while an expression is evaluated. */
interface Context {
  readonly scope: Scope | undefined
  readonly state: State
  /** The values of the primed variables so far. */
  readonly next: State
}

/** A choice of an action: the values of the next state so far. */
interface Branch {
  readonly next: State
  readonly action: string
}

export class Specification {
  readonly #module: Module
  readonly #constants: Scope | undefined

  constructor(module: Module, constants: Readonly<Record<string, Value>>) {
    this.#module = module
    let scope: Scope | undefined
    for (const name of module.constants) {
      const value = constants[name]
      if (value === undefined) throw new Error(`the constant ${name} has no value`)
      scope = { name, value, outer: scope }
    }
    this.#constants = scope
  }

  /** The states in which the specification begins. */
  initial(): State[] {
    const context = { scope: this.#constants, state: new Map(), next: new Map() }
    // In Init, `x = e` gives x its value.
    return [...this.#branches(this.#body('Init'), context, '', true)].map(({ next }) => next)
  }

  steps(state: State): Step[] {
    const context = { scope: this.#constants, state, next: new Map() }
    return Array.from(this.#branches(this.#body('Next'), context, '', false), ({ action, next }) => {
      const missing = this.#module.variables.filter(name => !next.has(name))
      if (missing.length > 0) throw new Error(`${action} says nothing of ${missing.join(', ')}`)
      return { action, state: next }
    })
  }

  /** Equal states have equal keys. */
  keyOf(state: State): string {
    return this.#module.variables.map(name => keyOf(state.get(name) as Value)).join(';')
  }

  /** Returns the value of a definition without parameters in a state. */
  valueOf(definition: string, state: State): Value {
    return this.#value(this.#body(definition), { scope: this.#constants, state, next: new Map() })
  }

  #body(name: string): Expression {
    const definition = this.#module.definitions.get(name)
    if (definition === undefined) throw new Error(`${name} is not defined`)
    return definition.body
  }

  *#branches(of: Expression, context: Context, action: string, isInit: boolean): Generator<Branch> {
    const { next } = context
    if (of.is === 'operator') {
      if (of.name === '/\\') {
        yield* this.#all(of.of, context, action, isInit)
        return
      }
      if (of.name === '\\/') {
        for (const each of of.of) yield* this.#branches(each, context, action, isInit)
        return
      }
      if (of.name === 'IF') {
        const [condition, then, otherwise] = of.of as [Expression, Expression, Expression]
        yield* this.#branches(this.#value(condition, context) === true ? then : otherwise, context, action, isInit)
        return
      }
      if (of.name === 'UNCHANGED') {
        const names = this.#variablesIn(of.of[0] as Expression)
        const kept = new Map(next)
        for (const name of names) kept.set(name, context.state.get(name) as Value)
        yield { next: kept, action }
        return
      }
      const name = this.#assigned(of, isInit)
      if (name !== undefined && !next.has(name)) {
        const value = this.#value(of.of[1] as Expression, context)
        for (const each of of.name === '\\in' ? (value as SetValue) : [value])
          yield { next: new Map([...next, [name, each]]), action }
        return
      }
    }
    if (of.is === 'quantifier' && of.name === '\\E') {
      for (const scope of this.#scopes(of.bound, context))
        yield* this.#branches(of.body, { ...context, scope }, action, isInit)
      return
    }
    if (of.is === 'let') {
      const scope = this.#withDefinitions(of, context.scope)
      yield* this.#branches(of.body, { ...context, scope }, action, isInit)
      return
    }
    const definition = of.is === 'name' ? this.#module.definitions.get(of.name) : undefined
    if (of.is === 'name' && definition !== undefined && !this.#isBound(of.name, context.scope)) {
      const values = of.of.map(each => this.#value(each, context))
      const named = values.length === 0 ? of.name : `${of.name}(${values.map(keyOf).join(', ')})`
      const scope = this.#withParameters(definition.parameters, values, this.#constants)
      yield* this.#branches(definition.body, { ...context, scope }, action === '' ? named : action, isInit)
      return
    }
    if (this.#value(of, isInit ? { ...context, state: next } : context) === true) yield { next, action }
  }

  *#all(of: readonly Expression[], context: Context, action: string, isInit: boolean): Generator<Branch> {
    const [first, ...others] = of
    if (first === undefined) {
      yield { next: context.next, action }
      return
    }
    for (const branch of this.#branches(first, context, action, isInit))
      yield* this.#all(others, { ...context, next: branch.next }, branch.action, isInit)
  }

  /** Returns the variable to which `x' = e` or `x' \in S` gives its next value; in Init `x = e`. */
  #assigned({ name, of: [left] }: Extract<Expression, { is: 'operator' }>, isInit: boolean): string | undefined {
    if (name !== '=' && name !== '\\in') return undefined
    const target = isInit ? left : left?.is === 'operator' && left.name === "'" ? left.of[0] : undefined
    return target?.is === 'name' && this.#module.variables.includes(target.name) ? target.name : undefined
  }

  #variablesIn(of: Expression): string[] {
    if (of.is === 'operator') return of.of.flatMap(each => this.#variablesIn(each))
    if (of.is !== 'name') throw new Error('UNCHANGED takes variables')
    return this.#module.variables.includes(of.name) ? [of.name] : this.#variablesIn(this.#body(of.name))
  }

  *#scopes([first, ...others]: readonly Bound[], context: Context): Generator<Scope | undefined> {
    if (first === undefined) {
      yield context.scope
      return
    }
    for (const value of this.#value(first.set, context) as SetValue)
      yield* this.#scopes(others, { ...context, scope: { name: first.name, value, outer: context.scope } })
  }

  #withDefinitions({ definitions }: Extract<Expression, { is: 'let' }>, scope: Scope | undefined): Scope | undefined {
    for (const { name, parameters, body } of definitions)
      scope = { name, value: { body, parameters, scope }, outer: scope }
    return scope
  }

  #withParameters(names: readonly string[], values: readonly Value[], scope: Scope | undefined): Scope | undefined {
    for (const [i, name] of names.entries()) scope = { name, value: values[i] as Value, outer: scope }
    return scope
  }

  #isBound(name: string, scope: Scope | undefined): boolean {
    for (; scope !== undefined; scope = scope.outer) if (scope.name === name) return true
    return false
  }

  #value(of: Expression, context: Context): Value {
    switch (of.is) {
      case 'value':
        return of.value
      case 'name':
        return this.#named(of, context)
      case 'operator':
        return this.#operator(of, context)
      case 'quantifier': {
        const isAll = of.name === '\\A'
        for (const scope of this.#scopes(of.bound, context)) {
          const holds = this.#value(of.body, { ...context, scope }) === true
          if (of.name === 'CHOOSE' && holds) return scope?.value as Value
          if (holds !== isAll && of.name !== 'CHOOSE') return !isAll
        }
        if (of.name === 'CHOOSE') throw new Error('CHOOSE finds nothing')
        return isAll
      }
      case 'filter':
        return new SetValue(
          [...this.#scopes([of.bound], context)].flatMap(scope =>
            this.#value(of.body, { ...context, scope }) === true ? [scope?.value as Value] : [],
          ),
        )
      case 'map':
        return new SetValue(
          [...this.#scopes(of.bound, context)].map(scope => this.#value(of.body, { ...context, scope })),
        )
      case 'function':
        return new FunctionValue(
          [...this.#scopes(of.bound, context)].map(scope => [
            scope?.value as Value,
            this.#value(of.body, { ...context, scope }),
          ]),
        )
      case 'except':
        return of.changes.reduce(
          (from: Value, { path, to }) => {
            const change = (value: Value, [first, ...rest]: readonly Expression[]): Value => {
              if (first === undefined) {
                const scope = { name: '@', value, outer: context.scope }
                return this.#value(to, { ...context, scope })
              }
              const argument = this.#value(first, context)
              const changed = change((value as FunctionValue).at(argument), rest)
              return new FunctionValue([...(value as FunctionValue).entries.values(), [argument, changed]])
            }
            return change(from, path)
          },
          this.#value(of.from, context),
        )
      case 'let':
        return this.#value(of.body, { ...context, scope: this.#withDefinitions(of, context.scope) })
    }
  }

  #named({ name, of }: Extract<Expression, { is: 'name' }>, context: Context): Value {
    const values = () => of.map(each => this.#value(each, context))
    for (let { scope } = context; scope !== undefined; scope = scope.outer) {
      if (scope.name !== name) continue
      const { value } = scope
      if (typeof value !== 'object' || !('body' in value)) return value
      return this.#value(value.body, {
        ...context,
        scope: this.#withParameters(value.parameters, values(), value.scope),
      })
    }
    const variable = context.state.get(name)
    if (variable !== undefined) return variable
    const definition = this.#module.definitions.get(name)
    if (definition !== undefined) {
      const scope = this.#withParameters(definition.parameters, values(), this.#constants)
      return this.#value(definition.body, { ...context, scope })
    }
    const [first, second] = values()
    switch (name) {
      case 'BOOLEAN':
        return new SetValue([false, true])
      case 'Cardinality':
        return (first as SetValue).items.size
      case 'Len':
        return (first as FunctionValue).entries.size
      case 'Head':
        return (first as FunctionValue).at(1)
      case 'Tail':
        return sequenceOf((first as FunctionValue).sequence.slice(1))
      case 'Append':
        return sequenceOf([...(first as FunctionValue).sequence, second as Value])
      default:
        throw new Error(`${name} is not defined`)
    }
  }

  #operator({ name, of }: Extract<Expression, { is: 'operator' }>, context: Context): Value {
    const at = (i: number) => this.#value(of[i] as Expression, context)
    switch (name) {
      case '/\\':
        return of.every((_, i) => at(i) === true)
      case '\\/':
        return of.some((_, i) => at(i) === true)
      case '=>':
        return at(0) !== true || at(1) === true
      case 'IF':
        return at(0) === true ? at(1) : at(2)
      case "'":
        return this.#value(of[0] as Expression, { ...context, state: context.next })
      case 'UNCHANGED':
        throw new Error('UNCHANGED stands in no place of an action')
    }
    const [a, b] = of.map((_, i) => at(i)) as [Value, Value]
    switch (name) {
      case '~':
        return a !== true
      case '<=>':
      case '=':
        return keyOf(a) === keyOf(b)
      case '#':
      case '/=':
        return keyOf(a) !== keyOf(b)
      case '<':
        return a < b
      case '>':
        return a > b
      case '<=':
        return a <= b
      case '>=':
        return a >= b
      case '+':
        return (a as number) + (b as number)
      case '-':
        return (a as number) - (b as number)
      case '..':
        return new SetValue(
          Array.from({ length: Math.max(0, (b as number) - (a as number) + 1) }, (_, i) => (a as number) + i),
        )
      case '\\in':
        return (b as SetValue).has(a)
      case '\\notin':
        return !(b as SetValue).has(a)
      case '\\subseteq':
        return [...(a as SetValue)].every(each => (b as SetValue).has(each))
      case '\\cup':
        return new SetValue([...(a as SetValue), ...(b as SetValue)])
      case '\\cap':
        return new SetValue([...(a as SetValue)].filter(each => (b as SetValue).has(each)))
      case '\\':
        return new SetValue([...(a as SetValue)].filter(each => !(b as SetValue).has(each)))
      case 'UNION':
        return new SetValue([...(a as SetValue)].flatMap(each => [...(each as SetValue)]))
      case 'DOMAIN':
        return new SetValue(Array.from((a as FunctionValue).entries.values(), ([argument]) => argument))
      case '[]':
        return (a as FunctionValue).at(b)
      case '{}':
        return new SetValue(of.map((_, i) => at(i)))
      case '<<>>':
        return sequenceOf(of.map((_, i) => at(i)))
      case '\\o':
        return sequenceOf([...(a as FunctionValue).sequence, ...(b as FunctionValue).sequence])
      default:
        throw new Error(`${name} is not known`)
    }
  }
}
