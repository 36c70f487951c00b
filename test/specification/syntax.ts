// Reads a module of TLA+: the part of the language that the specifications of docs/spec use.

/** An expression. The names of operators are those of TLA+. */
export type Expression =
  | { readonly is: 'value'; readonly value: number | string | boolean }
  /** A name, or a definition that is applied to arguments. */
  | { readonly is: 'name'; readonly name: string; readonly of: readonly Expression[] }
  | { readonly is: 'operator'; readonly name: string; readonly of: readonly Expression[] }
  | { readonly is: 'quantifier'; readonly name: string; readonly bound: readonly Bound[]; readonly body: Expression }
  | { readonly is: 'filter'; readonly bound: Bound; readonly body: Expression }
  | { readonly is: 'map' | 'function'; readonly bound: readonly Bound[]; readonly body: Expression }
  | { readonly is: 'except'; readonly from: Expression; readonly changes: readonly Change[] }
  | { readonly is: 'let'; readonly definitions: readonly Definition[]; readonly body: Expression }

export interface Bound {
  readonly name: string
  readonly set: Expression
}

/** In `![a] = e`, the path is `a`. */
export interface Change {
  readonly path: readonly Expression[]
  readonly to: Expression
}

export interface Definition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly body: Expression
}

export interface Module {
  readonly constants: readonly string[]
  readonly variables: readonly string[]
  readonly definitions: ReadonlyMap<string, Definition>
}

interface Token {
  readonly text: string
  /** From 1. A list of conjuncts or disjuncts ends at a token that does not stand to the right of its `/\` or `\/`. */
  readonly line: number
  readonly column: number
}

const TOKEN =
  /\\\*.*|\(\*[\s\S]*?\*\)|-{4,}.*|={4,}|"[^"]*"|\w+|\/\\|\\\/|\\[a-zA-Z]+|\|->|->|<=>|=>|==|<=|>=|\/=|<<|>>|\.\.|\S/g

function tokensOf(text: string): Token[] {
  const starts = [0]
  for (const { index } of text.matchAll(/\n/g)) starts.push(index + 1)
  return [...text.matchAll(TOKEN)].flatMap(({ 0: found, index }) => {
    if (/^(\\\*|\(\*|-{4})/.test(found)) return []
    const line = starts.findLastIndex(start => start <= index)
    return [{ text: found, line: line + 1, column: index - (starts[line] ?? 0) + 1 }]
  })
}

/** How tightly the binary operators bind. Those of a higher number bind tighter. */
const BINARY: Readonly<Record<string, number>> = {
  ...{ '=>': 1, '<=>': 2, '/\\': 3, '\\/': 3 },
  ...{ '=': 5, '#': 5, '/=': 5, '<': 5, '>': 5, '<=': 5, '>=': 5, '\\in': 5, '\\notin': 5, '\\subseteq': 5 },
  ...{ '\\cup': 8, '\\cap': 8, '\\': 8, '..': 9, '+': 10, '-': 11, '\\o': 13 },
}
const PREFIX: Readonly<Record<string, number>> = { '~': 4, UNCHANGED: 4, SUBSET: 8, UNION: 8, DOMAIN: 9 }
const END: Token = { text: '', line: 0, column: 0 }

/** @throws Error with the line, if the text has something that this part of TLA+ lacks */
export function moduleOf(text: string): Module {
  return new Parser(tokensOf(text)).module()
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  /** Tokens that do not stand to the right of this column end what is being read. */
  #limit = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  module(): Module {
    const [constants, variables]: string[][] = [[], []]
    const definitions = new Map<string, Definition>()
    while (this.#at < this.#tokens.length) {
      const word = this.#peek.text
      if (/^={4,}$/.test(word)) break
      if (word === 'EXTENDS') this.#names()
      else if (/^CONSTANTS?$/.test(word)) constants?.push(...this.#names())
      else if (/^VARIABLES?$/.test(word)) variables?.push(...this.#names())
      else if (word === 'Spec') this.#skipDefinition()
      else {
        const definition = this.#definition()
        definitions.set(definition.name, definition)
      }
    }
    return { constants: constants ?? [], variables: variables ?? [], definitions }
  }

  get #peek(): Token {
    const token = this.#tokens[this.#at] ?? END
    return token.column <= this.#limit ? END : token
  }

  #next(): string {
    const { text } = this.#peek
    if (text === '') throw this.#unexpected()
    this.#at++
    return text
  }

  #is(text: string): boolean {
    if (this.#peek.text !== text) return false
    this.#at++
    return true
  }

  #expect(text: string): void {
    if (!this.#is(text)) throw this.#unexpected(text)
  }

  #unexpected(wanted = 'an expression'): Error {
    const { line, text } = this.#tokens[this.#at] ?? END
    return new Error(`line ${line}: expected ${wanted}, not ${text === '' ? 'the end' : text}`)
  }

  #list<T>(read: () => T): T[] {
    const all = [read()]
    while (this.#is(',')) all.push(read())
    return all
  }

  #names(): string[] {
    this.#at++
    return this.#list(() => this.#next())
  }

  /** The temporal formula: who executes the specification knows Init and Next by their names. */
  #skipDefinition(): void {
    do this.#at++
    while ((this.#tokens[this.#at]?.column ?? 1) > 1)
  }

  #definition(): Definition {
    const name = this.#next()
    const parameters = this.#is('(') ? this.#list(() => this.#next()) : []
    if (parameters.length > 0) this.#expect(')')
    this.#expect('==')
    // A definition begins in the first column, so what stands to the right of that belongs to it.
    const limit = this.#limit
    const { column } = this.#tokens[this.#at - 1] ?? END
    if (limit === 0 && column > 1) this.#limit = 1
    const body = this.#expression()
    this.#limit = limit
    return { name, parameters, body }
  }

  #expression(least = 0): Expression {
    let left = this.#prefix()
    let before = ''
    for (;;) {
      const name = this.#peek.text
      const binds = BINARY[name] ?? -1
      if (binds <= least) return left
      // TLA+ knows no precedence between the two.
      if (`${before} ${name}` === '/\\ \\/' || `${before} ${name}` === '\\/ /\\') throw this.#unexpected('brackets')
      before = name
      this.#at++
      left = { is: 'operator', name, of: [left, this.#expression(binds)] }
    }
  }

  #prefix(): Expression {
    const { text, column } = this.#peek
    if (text === '/\\' || text === '\\/') return this.#junction(text, column)
    const binds = PREFIX[text]
    if (binds === undefined) return this.#postfix(this.#primary())
    this.#at++
    return { is: 'operator', name: text, of: [this.#expression(binds)] }
  }

  /** A list whose items begin with the same operator in the same column. */
  #junction(name: string, column: number): Expression {
    const of: Expression[] = []
    const limit = this.#limit
    while (this.#peek.text === name && this.#peek.column === column) {
      this.#at++
      this.#limit = column
      of.push(this.#expression())
      this.#limit = limit
    }
    return { is: 'operator', name, of }
  }

  #postfix(of: Expression): Expression {
    for (;;)
      if (this.#is("'")) of = { is: 'operator', name: "'", of: [of] }
      else if (this.#is('[')) {
        const index = this.#expression()
        this.#expect(']')
        of = { is: 'operator', name: '[]', of: [of, index] }
      } else return of
  }

  #primary(): Expression {
    const text = this.#next()
    switch (text) {
      case '(':
        return this.#until(')')
      case '{':
        return this.#set()
      case '[':
        return this.#function()
      case '<<':
        return { is: 'operator', name: '<<>>', of: this.#items('>>') }
      case 'IF': {
        const condition = this.#expression()
        this.#expect('THEN')
        const then = this.#expression()
        this.#expect('ELSE')
        return { is: 'operator', name: 'IF', of: [condition, then, this.#expression()] }
      }
      case 'LET': {
        const definitions: Definition[] = []
        while (!this.#is('IN')) definitions.push(this.#definition())
        return { is: 'let', definitions, body: this.#expression() }
      }
      case '\\A':
      case '\\E':
      case 'CHOOSE': {
        const bound = this.#bounds()
        this.#expect(':')
        return { is: 'quantifier', name: text, bound, body: this.#expression() }
      }
    }
    if (/^\d+$/.test(text)) return { is: 'value', value: Number(text) }
    if (text.startsWith('"')) return { is: 'value', value: text.slice(1, -1) }
    if (text === 'TRUE' || text === 'FALSE') return { is: 'value', value: text === 'TRUE' }
    if (!/^(\w+|@)$/.test(text)) {
      this.#at--
      throw this.#unexpected()
    }
    return { is: 'name', name: text, of: this.#is('(') ? this.#items(')') : [] }
  }

  #until(end: string): Expression {
    const inside = this.#expression()
    this.#expect(end)
    return inside
  }

  #items(end: string): Expression[] {
    if (this.#is(end)) return []
    const all = this.#list(() => this.#expression())
    this.#expect(end)
    return all
  }

  /** `x, y \in S, z \in T` */
  #bounds(): Bound[] {
    return this.#list(() => {
      const names = this.#list(() => this.#next())
      this.#expect('\\in')
      // Not with `,`, which begins the next bound.
      const set = this.#expression()
      return names.map(name => ({ name, set }))
    }).flat()
  }

  #set(): Expression {
    if (this.#is('}')) return { is: 'operator', name: '{}', of: [] }
    const first = this.#expression()
    if (this.#is(':')) {
      // `{x \in S : p}` or `{e : x \in S}`
      if (first.is === 'operator' && first.name === '\\in' && first.of[0]?.is === 'name') {
        const bound = { name: first.of[0].name, set: first.of[1] as Expression }
        return { is: 'filter', bound, body: this.#until('}') }
      }
      const bound = this.#bounds()
      this.#expect('}')
      return { is: 'map', bound, body: first }
    }
    const of = this.#is(',') ? [first, ...this.#list(() => this.#expression())] : [first]
    this.#expect('}')
    return { is: 'operator', name: '{}', of }
  }

  #function(): Expression {
    const start = this.#at
    if (this.#tokens[start + 1]?.text === '\\in') {
      const bound = this.#bounds()
      this.#expect('|->')
      return { is: 'function', bound, body: this.#until(']') }
    }
    const from = this.#expression()
    if (this.#is('->')) return { is: 'operator', name: '->', of: [from, this.#until(']')] }
    this.#expect('EXCEPT')
    const changes = this.#list((): Change => {
      this.#expect('!')
      const path: Expression[] = []
      while (this.#is('[')) path.push(this.#until(']'))
      this.#expect('=')
      return { path, to: this.#expression() }
    })
    this.#expect(']')
    return { is: 'except', from, changes }
  }
}
