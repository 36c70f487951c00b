// Makes one program of all examples, checks its types, and bundles it, so that all run in this process.
import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import ts from '@typescript/typescript6'
import { entryPoints, type Example, type PublicName } from '../../support/public-names.ts'
import type { RunnableExample } from './run.ts'

const root = join(import.meta.dirname, '..', '..', '..')
/** Inside the repository, because the compiler looks for @types in parent folders. */
const folder = join(root, '.cache', 'examples')

const RUN = 'test/docs/examples/run.ts'
const RESULT = /^;? *(?:\n *)?\/\/ (=>|throws) (.+)/

/** An example as the body of a function. Its results have become calls of `check` and `throws`. */
interface Translated {
  code: string
  /** Import statements of the example, which must be at the top of the module. */
  imports: string[]
  /** Lines that have a result. */
  results: number[]
}

/**
 * Translates an example: after an expression, or in the line below it, `// => value` means that it has this value, and `// throws CODE` that it
 * throws an error with this code or name.
 * @throws Error if a result does not follow an expression statement, or there is no result
 */
function translate({ code, line: firstLine }: Example): Translated {
  const edits: { start: number; end: number; text: string }[] = []
  const imports: string[] = []
  const results: number[] = []
  const source = sourceOf(code)
  const wrap = (node: ts.ExpressionStatement, before: string, after: string) => {
    const [start, end] = [node.getStart(), node.expression.getEnd()]
    edits.push({ start, end: start, text: before }, { start: end, end: node.getEnd(), text: after })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      imports.push(node.getText())
      edits.push({ start: node.getStart(), end: node.getEnd(), text: '' })
    }
    if (ts.isExpressionStatement(node)) {
      const end = node.expression.getEnd()
      const [, kind, expected = ''] = RESULT.exec(code.slice(end)) ?? []
      const line = firstLine + source.getLineAndCharacterOfPosition(end).line
      if (kind === '=>') wrap(node, `check(${line}, `, `, (${expected}))`)
      else if (kind === 'throws') wrap(node, `await throws(${line}, async () => (`, `), '${expected}')`)
      if (kind !== undefined) results.push(line)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  const count = code.match(/\/\/ (=>|throws) /g)?.length ?? 0
  if (count === 0) throw new Error('the example has no result')
  if (count !== results.length) throw new Error('a result does not follow an expression')
  let text = code
  for (const edit of edits.sort((a, b) => b.start - a.start || b.end - a.end))
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  return { code: text.replaceAll(/'localhost:2181([^']*)'/g, "(serverAddress + '$1')"), imports, results }
}

const sourceOf = (code: string) => ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest, true)

/** Returns the identifiers that the code uses and does not declare. */
function freeIdentifiers(code: string): Set<string> {
  const [used, declared] = [new Set<string>(), new Set<string>()]
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node
      const isName = 'name' in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)
      const isMember = ts.isPropertyAccessExpression(parent) || ts.isObjectLiteralElement(parent)
      if (!isName) used.add(node.text)
      else if (!isMember) declared.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(sourceOf(code))
  for (const name of declared) used.delete(name)
  return used
}

/** Writes the program. Returns a sentence for each example that has no result that can be checked. */
export function writeProgram(names: readonly PublicName[]): string[] {
  rmSync(folder, { recursive: true, force: true })
  const problems: string[] = []
  const files = [...new Set(names.map(({ file }) => file))]
  for (const file of files) {
    const ofFile = names.filter(each => each.file === file)
    // If several entry points export a name, the one of this file is meant.
    const scope = new Map([...names.toReversed(), ...ofFile].map(each => [each.name, each]))
    const imports = new Set([importOf('type RunnableExample', RUN, file)])
    const examples: string[] = []
    for (const { name, examples: ofName } of ofFile)
      for (const example of ofName) {
        try {
          const translated = translate(example)
          const free = freeIdentifiers([...translated.imports, translated.code].join('\n'))
          for (const each of translated.imports) imports.add(toSources(each, file))
          for (const { name: used, isTypeOnly, entryPoint } of [...free].flatMap(each => scope.get(each) ?? []))
            imports.add(importOf(`${isTypeOnly ? 'type ' : ''}${used}`, entryPoint, file))
          examples.push(functionOf(file, name, translated, free))
        } catch (error) {
          problems.push(`${file}:${example.line} ${name}: ${(error as Error).message}`)
        }
      }
    write(file, [...imports, `export const examples: RunnableExample[] = [${examples.join(',\n')}]\n`].join('\n'))
  }
  const lists = files.map((file, index) => `import { examples as list${index} } from './${file}'\n`)
  const all = files.map((_, index) => `...list${index}`)
  const run = importOf('failuresOf', RUN, 'main.ts').replace('import', 'export')
  write('main.ts', `${lists.join('')}${run}\nexport const examples = [${all.join(', ')}]\n`)
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  write(
    'tsconfig.json',
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions,
      include: ['.', '../../src/**/*.d.ts'],
      exclude: [],
    }),
  )
  return problems
}

function functionOf(file: string, name: string, { code, results }: Translated, free: Set<string>): string {
  const uses = ['zk', 'other'].filter(each => free.has(each))
  const facts = JSON.stringify({ file, name, uses, results, listens: free.has('serverAddress') })
  const given = ['zk', 'other', 'server', 'serverAddress', 'check', 'throws'].filter(each => free.has(each))
  return `{ ...(${facts} as const), run: async ({ ${given.join(', ')} }) => {\n${code}\n} }`
}

/** Makes an import of an entry point of the package import its source. */
const toSources = (statement: string, file: string): string =>
  statement.replace(/'zkwire(\/\w+)?'/, (_, path = '') => `'${pathFrom(file, entryPoints()[`.${path}`] ?? '')}'`)

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** Returns an import for the module that is made of `file`. Both paths start at the root of the repository. */
const importOf = (name: string, from: string, file: string): string =>
  `import { ${name} } from '${pathFrom(file, from)}'`

const pathFrom = (file: string, to: string): string => relative(dirname(join(folder, file)), join(root, to))

/** Checks the types of the program. Resolves to what the compiler prints. */
export async function typeErrors(): Promise<string> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const failed = (error: unknown) => error as { stdout: string }
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder], { cwd: root }).catch(failed)
  return stdout
}

export interface Program {
  examples: readonly RunnableExample[]
  failuresOf: (example: RunnableExample, limit?: number) => Promise<string[]>
}

/** Bundles the program, so that all examples share one copy of the sources, and loads it. */
export async function loadProgram(): Promise<Program> {
  const outfile = join(folder, 'main.mjs')
  await build({
    entryPoints: [join(folder, 'main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    alias: { 'cloudflare:sockets': join(import.meta.dirname, 'cloudflare-sockets.ts') },
    logLevel: 'error',
  })
  return (await import(pathToFileURL(outfile).href)) as Program
}
