// docs/architecture.md follows a call, a release, an event, a reconnect and a request from function to function. Every function
// named there must exist.
import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from '@typescript/typescript6'

const HEADINGS = [
  'The steps of an acquire()',
  'The steps of a release()',
  'The steps of a watch event',
  'The steps of a reconnect',
  'The steps of a request through the embedded server',
]

/** A step such as: 1. `src/path/file.ts` `Owner.member` — a description. */
const STEP = /^\d+\. `(src\/[^`]+\.ts)` `([^`]+)` — \S.*$/

interface Step {
  file: string
  name: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${root}docs/architecture.md`, 'utf8')

/** The steps below a heading, up to the next heading. A line that starts with a number must be a step. */
function stepsOf(text: string, heading: string): Step[] {
  const section = text.split(/^## /m).find(each => each.startsWith(`${heading}\n`)) ?? ''
  return section.split('\n').flatMap(line => {
    if (!/^\d+\./.test(line)) return []
    const [, file = '', name = ''] = STEP.exec(line) ?? expect.fail(`no step: ${line}`)
    return { file, name }
  })
}

/**
 * Returns the names that a step may have: `name` for a top-level function or constant, `Owner.member` for a member of a
 * class or object.
 */
function namesIn(text: string): Set<string> {
  const names = new Set<string>()
  const addMembers = (owner: string, members: readonly (ts.ClassElement | ts.ObjectLiteralElementLike)[]) => {
    for (const { name } of members) if (name !== undefined) names.add(`${owner}.${name.getText()}`)
  }
  for (const statement of ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true).statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) names.add(statement.name.text)
    if (ts.isClassDeclaration(statement) && statement.name !== undefined) {
      addMembers(statement.name.text, statement.members)
      if (statement.members.some(ts.isConstructorDeclaration)) names.add(`${statement.name.text}.constructor`)
    }
    if (!ts.isVariableStatement(statement)) continue
    for (const { name, initializer } of statement.declarationList.declarations) {
      names.add(name.getText())
      if (initializer !== undefined && ts.isObjectLiteralExpression(initializer))
        addMembers(name.getText(), initializer.properties)
    }
  }
  return names
}

function problemWith({ file, name }: Step): string | undefined {
  if (!existsSync(root + file)) return `${file} does not exist`
  return namesIn(readFileSync(root + file, 'utf8')).has(name) ? undefined : `${file} has no ${name}`
}

describe('docs/architecture.md', () => {
  for (const heading of HEADINGS)
    it(`in “${heading}”, names only functions that exist`, () => {
      const steps = stepsOf(page, heading)
      expect(steps).to.have.length.above(5)
      expect(steps.flatMap(step => problemWith(step) ?? [])).to.deep.equal([])
    })

  it('may name top-level functions and constants, members of classes and of objects, and nothing else', () => {
    const names = namesIn(`
      export function a() {}
      const b = () => {}
      export class C { constructor() {} d() {} #e() {} get f() { return 1 } static g() {} }
      export const h = { i: () => {}, async j() {} }
      // function k() {}
      function l() { function m() {} }`)
    expect([...names]).to.have.members(['a', 'b', 'C.constructor', 'C.d', 'C.#e', 'C.f', 'C.g', 'h', 'h.i', 'h.j', 'l'])
  })

  it('may have steps of one form only; a step that names a missing file or function is reported', () => {
    const text =
      '# Title\n\n## The steps of a\n\nText.\n\n1. `src/index.ts` `gone` — does.\n2. `src/gone.ts` `a` — does.\n\n## Next\n1. x'
    expect(stepsOf(text, 'The steps of a').map(problemWith)).to.deep.equal([
      'src/index.ts has no gone',
      'src/gone.ts does not exist',
    ])
    expect(() => stepsOf(text, 'Next')).to.throw('no step: 1. x')
    expect(stepsOf(text, 'Missing')).to.deep.equal([])
  })
})
