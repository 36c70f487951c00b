// The import graph of src/, and the imports that a folder's rule does not allow.
import { posix } from 'node:path'
import ts from '@typescript/typescript6'

/** Each file's imports: paths below src/, and names of modules. The key is the file's own path below src/. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/**
 * The imports that each folder is allowed besides its own files: folders, single files, and (outside src) packages.
 * '.' is src/ itself.
 */
export type ImportRules = ReadonlyMap<string, readonly string[]>

const RULE = /^\/\/ May import: (.+(?:,\n\/\/ .+)*)\.$/m

/**
 * Reads the rules from the files. In each folder, one file has a line `// May import: a, b/c.ts.` or `// May import:
 * nothing.`.
 * @throws Error if a folder has no such line, or more than one
 */
export function importRulesOf(files: ReadonlyMap<string, string>): ImportRules {
  const rules = new Map<string, readonly string[]>()
  for (const [file, text] of files) {
    const rule = RULE.exec(text.slice(0, 1000))?.[1]
    if (rule === undefined) continue
    const folder = posix.dirname(file)
    if (rules.has(folder)) throw new Error(`${folder} has two lines "May import"`)
    rules.set(folder, rule === 'nothing' ? [] : rule.split(/, |,\n\/\/ /))
  }
  for (const file of files.keys())
    if (!rules.has(posix.dirname(file))) throw new Error(`${posix.dirname(file)} has no line "May import"`)
  return rules
}

export function importGraphOf(files: ReadonlyMap<string, string>, imports = importsOf): ImportGraph {
  return new Map([...files].map(([file, text]) => [file, imports(file, text)]))
}

/** Returns the imports of a file, with type imports and `import()` of modules and of types. */
export function importsOf(file: string, text: string): string[] {
  const specifiers = new Set(ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName))
  return [...specifiers].map(specifier =>
    specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier,
  )
}

const TYPE_IMPORT = /\b(?:import|export) type (?:\{[^}]*\}|\* as \w+|\w+) from '[^']+'/g

/** Returns the imports that the JavaScript of a file has too: those of values. */
export const valueImportsOf = (file: string, text: string): string[] => importsOf(file, text.replace(TYPE_IMPORT, ''))

/** Returns a sentence for each import that the rule of its folder does not allow. */
export function wrongImports(graph: ImportGraph, rules: ImportRules): string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports.flatMap(imported => {
      const problem = problemWith(file, imported, graph, rules)
      return problem === undefined ? [] : `${file} imports ${imported}: ${problem}`
    }),
  )
}

function problemWith(file: string, imported: string, graph: ImportGraph, rules: ImportRules): string | undefined {
  if (/^(node|cloudflare):/.test(imported)) return undefined
  const [from, to] = [posix.dirname(file), posix.dirname(imported)]
  const allowed = rules.get(from) ?? []
  const isFile = /\.tsx?$/.test(imported)
  if (!isFile && allowed.includes(imported)) return undefined
  if (!graph.has(imported)) return isFile ? 'there is no such file' : 'a runtime dependency'
  return from === to || allowed.includes(to) || allowed.includes(imported) ? undefined : `${from} may not import it`
}

/** Returns a sentence for each permission that no file uses, because a rule must describe the actual imports. */
export function unusedRules(graph: ImportGraph, rules: ImportRules): string[] {
  return [...rules].flatMap(([folder, allowed]) => {
    const imported = [...graph].filter(([file]) => posix.dirname(file) === folder).flatMap(([, imports]) => imports)
    const isUsed = (permission: string) =>
      imported.some(each => each === permission || posix.dirname(each) === permission)
    return allowed.filter(permission => !isUsed(permission)).map(permission => `${folder} imports no ${permission}`)
  })
}

/** Converts the rules to a graph of folders, for {@link cycles}. */
export const foldersOf = (rules: ImportRules): ImportGraph =>
  new Map([...rules].map(([folder, allowed]) => [folder, allowed.map(each => each.replace(/\/[^/]+\.tsx?$/, ''))]))

/** Returns import cycles, written 'a > b > a': at least one for each set of files that import each other. */
export function cycles(graph: ImportGraph): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (file: string): void => {
    const at = trail.indexOf(file)
    if (at >= 0) found.push([...trail.slice(at), file].join(' > '))
    if (at >= 0 || done.has(file)) return
    trail.push(file)
    for (const imported of graph.get(file) ?? []) visit(imported)
    trail.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return found
}
