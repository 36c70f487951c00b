// The public names: what the entry points in package.json export, each with the examples in its docstring.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from '@typescript/typescript6'

const root = join(import.meta.dirname, '..', '..')

export interface Example {
  /** The first line of the code in its file, from 1. */
  line: number
  code: string
}

export interface PublicName {
  /** The name as the importer writes it, such as `Mutex` or `records.Stat`. */
  name: string
  /** The file of the entry point that exports it, from the root of the repository. */
  entryPoint: string
  /** A name that is a value and a type has two docstrings, which the reference shows apart. */
  is: 'value' | 'type'
  /** True if the entry point exports only the type of a class. */
  isTypeOnly: boolean
  /** The file of the declaration, from the root of the repository. */
  file: string
  line: number
  examples: Example[]
}

/** The source of each entry point in package.json, from the root of the repository, by the path in `exports`. */
export function entryPoints(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { import: { default: string } }>
  }
  const sources = Object.entries(exports).flatMap(([path, entry]) =>
    typeof entry === 'string' ? [] : [[path, entry.import.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts')]],
  )
  return Object.fromEntries(sources) as Record<string, string>
}

/**
 * Returns the names that the files export, each once: with the first file that exports it.
 * @param withMethods the classes and interfaces whose methods are names too, such as `Client.create`
 */
export function publicNames(files: readonly string[], withMethods: readonly string[] = []): PublicName[] {
  const program = programOf(files)
  const checker = program.getTypeChecker()
  const known = new Set<ts.Symbol>()
  const names: PublicName[] = []
  const addExportsOf = (module: ts.Symbol, entryPoint: string, prefix: string) => {
    for (const exported of checker.getExportsOfModule(module)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
      const add = (is: PublicName['is'], declarations: readonly ts.Declaration[], member = '') => {
        const [first] = declarations
        if (first === undefined) return
        const source = first.getSourceFile()
        names.push({
          name: prefix + exported.name + member,
          entryPoint,
          is,
          isTypeOnly: is === 'type' || isExportedAsType(exported),
          file: relative(root, source.fileName),
          line: source.getLineAndCharacterOfPosition(first.getStart()).line + 1,
          examples: declarations.flatMap(examplesOf),
        })
      }
      if (known.has(symbol)) continue
      known.add(symbol)
      if (symbol.flags & ts.SymbolFlags.ValueModule) {
        add('value', exported.declarations ?? [])
        addExportsOf(symbol, entryPoint, `${prefix}${exported.name}.`)
        continue
      }
      const isType = (each: ts.Declaration) => ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each)
      const declarations = symbol.declarations ?? []
      add(
        'value',
        declarations.filter(each => !isType(each)),
      )
      add('type', declarations.filter(isType))
      if (!withMethods.includes(exported.name)) continue
      for (const member of checker.getDeclaredTypeOfSymbol(symbol).getProperties())
        if (isPublicMethod(member)) add('value', member.declarations ?? [], `.${member.name}`)
    }
  }
  for (const file of files) addExportsOf(moduleOf(program, file), file, '')
  return names
}

/** A public function, method or constructor, as its declaration says. */
export interface DeclaredCall {
  /** Such as `connect`, `Client.getData` and `new Cache`. */
  name: string
  /** The types of its parameters, as the source has them. */
  parameters: string[]
  /** The types of the properties of its parameters by their names, as the source has them. */
  options: Map<string, string>
  returnType: string
}

/**
 * Returns the public functions, methods and constructors.
 * @param files the entry points that export them
 */
export function declaredCalls(files: readonly string[]): readonly DeclaredCall[] {
  // Test files of several processes ask the same, and each program takes seconds.
  const hash = createHash('sha256').update(files.join('\n'))
  for (const file of [import.meta.filename, ...sourceFiles()]) hash.update(readFileSync(file))
  const file = join(root, '.cache', 'declared-calls', `${hash.digest('hex')}.json`)
  if (!existsSync(file)) {
    const calls = readCalls(files).map(call => ({ ...call, options: [...call.options] }))
    mkdirSync(dirname(file), { recursive: true })
    // Written under another name first, because another process may read it meanwhile.
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(calls))
    renameSync(`${file}.${process.pid}`, file)
  }
  const calls = JSON.parse(readFileSync(file, 'utf8')) as (Omit<DeclaredCall, 'options'> & {
    options: [string, string][]
  })[]
  return calls.map(call => ({ ...call, options: new Map(call.options) }))
}

const sourceFiles = (): string[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => join(root, 'src', path))

function readCalls(files: readonly string[]): DeclaredCall[] {
  const program = programOf(files)
  const checker = program.getTypeChecker()
  const typeOf = ({ valueDeclaration }: ts.Symbol) =>
    (valueDeclaration as ts.ParameterDeclaration | undefined)?.type?.getText() ?? ''
  const calls: DeclaredCall[] = []
  const add = (name: string, signatures: readonly ts.Signature[]) => {
    const parameters = signatures.flatMap(signature => signature.getParameters())
    const options = parameters.flatMap(parameter =>
      checker.getPropertiesOfType(checker.getNonNullableType(checker.getTypeOfSymbol(parameter))),
    )
    const [signature] = signatures
    // A class without a constructor has a signature without a declaration.
    const declaration: ts.SignatureDeclaration | undefined = signature?.getDeclaration()
    if (signature !== undefined)
      calls.push({
        name,
        parameters: parameters.map(typeOf),
        options: new Map(options.map(option => [option.name, typeOf(option)])),
        returnType: declaration?.type?.getText() ?? '',
      })
  }
  for (const exported of files.flatMap(file => checker.getExportsOfModule(moduleOf(program, file)))) {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
    if ((symbol.flags & ts.SymbolFlags.Value) !== 0 && !isExportedAsType(exported)) {
      const type = checker.getTypeOfSymbol(symbol)
      add(exported.name, type.getCallSignatures())
      add(`new ${exported.name}`, type.getConstructSignatures())
    }
    if ((symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) === 0) continue
    for (const member of checker.getDeclaredTypeOfSymbol(symbol).getProperties())
      if (isPublicMethod(member))
        add(`${exported.name}.${member.name}`, checker.getTypeOfSymbol(member).getCallSignatures())
  }
  return calls
}

/** Returns the names of the public calls that have an option. */
export const publicCallsWith = (option: string, files: readonly string[]): string[] =>
  declaredCalls(files).flatMap(({ name, options }) => (options.has(option) ? [name] : []))

function programOf(files: readonly string[]): ts.Program {
  // Without the libraries, because the exports alone are needed. That takes a tenth of the time.
  return ts.createProgram(
    files.map(file => join(root, file)),
    {
      ...{ noLib: true, types: [], noEmit: true, strictNullChecks: true },
      ...{ module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true },
    },
  )
}

function moduleOf(program: ts.Program, file: string): ts.Symbol {
  const source = program.getSourceFile(join(root, file))
  const module = source && program.getTypeChecker().getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`${file} is not a module`)
  return module
}

const isExportedAsType = (exported: ts.Symbol): boolean =>
  (exported.declarations ?? []).some(each => ts.isTypeOnlyImportOrExportDeclaration(each))

/** Returns false for properties, and for methods that are private, protected or internal, or whose name is a symbol. */
const isPublicMethod = ({ name, flags, declarations = [] }: ts.Symbol): boolean =>
  /^[a-z]/.test(name) &&
  (flags & ts.SymbolFlags.Method) !== 0 &&
  declarations.every(each => {
    const modifiers = ts.getCombinedModifierFlags(each)
    const isInternal = ts.getJSDocTags(each).some(({ tagName }) => tagName.text === 'internal')
    return (modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0 && !isInternal
  })

/** Returns the code after each `@example` in the docstring of a declaration. */
function examplesOf(declaration: ts.Declaration): Example[] {
  const source = declaration.getSourceFile()
  // The docstring of `export * as name from` is that of the whole statement.
  const documented = ts.isNamespaceExport(declaration) ? declaration.parent : declaration
  return ts
    .getJSDocCommentsAndTags(documented)
    .filter(ts.isJSDoc)
    .flatMap(({ pos, end }) =>
      examplesIn(source.text.slice(pos, end), source.getLineAndCharacterOfPosition(pos).line + 1),
    )
}

/** @param line line of the docstring in its file */
function examplesIn(docstring: string, line: number): Example[] {
  const examples: Example[] = []
  let open: Example | undefined
  for (const [index, full] of docstring.split('\n').entries()) {
    const text = full.replace(/^\s*(\/\*\*|\*(?!\/)) ?/, '').replace(/\s*\*\/$/, '')
    const [tag] = /^@\w+/.exec(text) ?? []
    if (tag === '@example') {
      const code = text.slice(tag.length).trim()
      open = { line: line + index + (code === '' ? 1 : 0), code }
      examples.push(open)
    } else if (tag !== undefined) open = undefined
    else if (open !== undefined) open.code += (open.code === '' ? '' : '\n') + text
  }
  for (const example of examples) example.code = example.code.trimEnd()
  return examples
}
