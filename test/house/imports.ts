// Which file imports which, and what is wrong with that.
import { posix } from 'node:path'
import ts from 'typescript'

/** What each layer may import from, beside itself. A file directly in src/ is a layer of its own name. */
export const layersBelow: Readonly<Record<string, readonly string[]>> = {
  machine: [],
  protocol: [],
  transport: ['protocol'],
  session: ['transport', 'protocol', 'machine'],
  sasl: ['session', 'transport', 'protocol', 'machine'],
  recipes: ['session', 'transport', 'protocol'],
  index: ['recipes', 'session', 'transport', 'protocol'],
  server: ['transport', 'protocol', 'machine'],
}

/** Files below src/ by their path in it, each with what it imports: paths of the same kind, and names of modules. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

export function importGraphOf(files: ReadonlyMap<string, string>): ImportGraph {
  return new Map([...files].map(([file, text]) => [file, importsOf(file, text)]))
}

/** Types counted, and `import()` of modules and of types. */
export function importsOf(file: string, text: string): string[] {
  const specifiers = new Set(ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName))
  return [...specifiers].map(specifier =>
    specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier,
  )
}

/** A sentence for each import that points up, aside, out of src/, or at a package. */
export function wrongImports(graph: ImportGraph): string[] {
  return [...graph].flatMap(([file, imports]) =>
    imports.flatMap(imported => {
      const wrong = wrongWith(file, imported, graph)
      return wrong === undefined ? [] : `${file} imports ${imported}: ${wrong}`
    }),
  )
}

function wrongWith(file: string, imported: string, graph: ImportGraph): string | undefined {
  if (/^(node|cloudflare):/.test(imported)) return undefined
  if (!graph.has(imported)) return imported.endsWith('.ts') ? 'there is no such file in src/' : 'a runtime dependency'
  const [from, to] = [layerOf(file), layerOf(imported)]
  const below = layersBelow[from]
  if (below === undefined) return `${from} is no layer`
  return from === to || below.includes(to) ? undefined : `${to} is not below ${from}`
}

const layerOf = (file: string): string => (file.split('/')[0] ?? '').replace(/\.ts$/, '')

/** Import cycles, written 'a > b > a': at least one of each set of files that reach each other. */
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
