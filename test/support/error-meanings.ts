// The codes of errors with their meanings, read from their declarations in src.
import ts from '@typescript/typescript6'
import { readDocument } from './document.ts'

/** The codes that a constant of a file declares, each with its meaning: the first string of its value. */
function meaningsIn(file: string, constant: string): [code: string, meaning: string][] {
  const found: [string, string][] = []
  const firstString = (node: ts.Node): string | undefined =>
    ts.isStringLiteral(node) ? node.text : ts.forEachChild(node, firstString)
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === constant) collect(node)
    else ts.forEachChild(node, visit)
  }
  const collect = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node)) found.push([node.name.getText(), firstString(node.initializer) ?? ''])
    else ts.forEachChild(node, collect)
  }
  visit(ts.createSourceFile(file, readDocument(file), ts.ScriptTarget.Latest, true))
  return found
}

/** The headings of the errors of calls in docs/troubleshooting.md, each with its meaning. */
export const ofCalls = ['serverErrors', 'ownErrors'].flatMap(name => meaningsIn('src/protocol/errors.ts', name))

/** The headings of the errors of recipes, each with its meaning. */
export const ofRecipes = meaningsIn('src/recipes/call/recipe-error.ts', 'meanings').map(
  ([code, meaning]): [heading: string, meaning: string] => [`${code} of a recipe`, meaning],
)
