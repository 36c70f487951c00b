// Runs the code blocks of a document unchanged, with the built package and a real server.
import { expect } from 'chai'
import { transform } from 'esbuild'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ChildProgram } from '../../environment/child-program.ts'
import { sharedServer } from './shared-server.ts'

const root = join(import.meta.dirname, '..', '..')

export const readDocument = (file: string): string => readFileSync(join(root, file), 'utf8')

export interface CodeBlock {
  /** The text of the heading above the block. */
  heading: string
  code: string
}

/** Returns the TypeScript blocks of the document. */
export function codeBlocks(document: string): CodeBlock[] {
  let heading = 'the beginning'
  return [...readDocument(document).matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, title, code]) => {
    heading = title ?? heading
    return code === undefined ? [] : [{ heading, code }]
  })
}

/**
 * Compiles a block, and writes it to a file that can be run with the built package. Returns the path of the file.
 * @param name name of the file, without its extension
 */
export async function writeScript(name: string, code: string, connectString: string): Promise<string> {
  expect(existsSync(join(root, 'dist', 'index.js')), 'dist/ is missing: run npm run build first').to.equal(true)
  // The scripts are inside the package, so that `import 'zkwire'` resolves to it.
  const file = join(root, '.cache', `${name}.mjs`)
  mkdirSync(dirname(file), { recursive: true })
  // Compiled here because tsx in the child process would triple its start time.
  const script = await transform(code, { loader: 'ts', target: 'node20' })
  writeFileSync(file, script.code.replaceAll('localhost:2181', connectString))
  return file
}

/**
 * Defines a test for each TypeScript block of the document.
 * @param outputs for each block a pattern that its output must match, or the test file that runs the block
 */
export function testCodeBlocks(document: string, outputs: readonly (RegExp | string)[]): void {
  let count = 0
  for (const { heading, code } of codeBlocks(document)) {
    const nth = ++count
    const output = outputs[nth - 1] ?? /^$/
    if (typeof output === 'string') continue
    it(`runs the code under “${heading}” and prints the expected output`, async function () {
      this.timeout(30_000)
      const server = await sharedServer()
      const script = await writeScript(join(basename(document, '.md'), `${nth}`), code, server.connectString)
      const { status, out, err } = await new ChildProgram([script]).ended
      expect(status, out + err).to.equal(0)
      expect(out + err).to.match(output)
    })
  }

  it('has as many code blocks as expected outputs', () => {
    expect(count).to.equal(outputs.length)
  })
}
