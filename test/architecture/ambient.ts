// Finds the ambient dependencies of a file: time, randomness, sockets, hashes, and code from strings. Its caller does
// not pass them in.
import ts from '@typescript/typescript6'

export type Need = 'time' | 'randomness' | 'sockets' | 'hashes' | 'code from strings'

const needs: Readonly<Record<Need, readonly string[]>> = {
  time: [
    ...['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'AbortSignal.timeout'],
    ...['process.hrtime', 'process.uptime', 'node:timers', 'node:timers/promises', 'node:perf_hooks'],
  ],
  randomness: ['Math.random', 'crypto', 'randomBytes', 'randomInt', 'randomUUID', 'getRandomValues'],
  sockets: [
    ...['node:net', 'node:tls', 'node:dns', 'node:dgram', 'node:http', 'node:https', 'cloudflare:sockets'],
    ...['WebSocket', 'fetch'],
  ],
  hashes: ['node:crypto'],
  'code from strings': ['eval', 'Function', 'node:vm'],
}

/**
 * Returns a description such as 'line 3 takes time: Date.now' for each use in `text`. Comments, types and members do
 * not count.
 */
export function ambientUses(text: string): { need: Need; description: string }[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true)
  const uses: { need: Need; description: string }[] = []
  const visit = (node: ts.Node): void => {
    for (const name of namesOf(node)) {
      const need = (Object.keys(needs) as Need[]).find(each => needs[each].includes(name))
      if (need === undefined) continue
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      uses.push({ need, description: `line ${line} takes ${need}: ${node.parent.getText().split('\n')[0] ?? ''}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return uses
}

/** The names by which a node may refer to a global or to a built-in module. */
function namesOf(node: ts.Node): string[] {
  if (ts.isStringLiteral(node)) return isSpecifier(node) ? [node.text] : []
  if (ts.isPropertyAccessExpression(node)) {
    const of = node.expression.getText()
    return [of === 'globalThis' ? node.name.text : `${of}.${node.name.text}`]
  }
  return ts.isIdentifier(node) && isReference(node) && !isDateOfGivenTime(node) ? [node.text] : []
}

/** `new Date(time)` only formats the given time. `new Date()` reads the clock. */
const isDateOfGivenTime = ({ text, parent }: ts.Identifier): boolean =>
  text === 'Date' && ts.isNewExpression(parent) && (parent.arguments?.length ?? 0) > 0

const isSpecifier = ({ parent }: ts.StringLiteral): boolean =>
  ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isCallExpression(parent)

/**
 * True if the identifier refers to a value. False for a type, and for the name that a declaration or property gives.
 */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isShorthandPropertyAssignment(parent)) return true
  if (ts.isImportSpecifier(parent)) return (parent.propertyName ?? parent.name) === node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent) || ts.isTypeQueryNode(parent)) return false
  return !('name' in parent && parent.name === node)
}

/** Returns the code without comments, in uniform formatting. */
export function withoutComments(text: string): string {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest)
  return ts.createPrinter({ removeComments: true }).printFile(file)
}
