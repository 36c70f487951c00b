// Runs the code blocks of a document unchanged, with the built package and a real server.
import { expect } from 'chai'
import { transform } from 'esbuild'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sharedServer } from './shared-server.ts'

const root = join(import.meta.dirname, '..', '..')

export const readDocument = (file: string): string => readFileSync(join(root, file), 'utf8')

async function run(file: string): Promise<{ output: string; code: number | null }> {
  const child = spawn(process.execPath, [file], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { output: out + err, code }
}

/**
 * Defines a test for each TypeScript block of the document.
 * @param outputs one pattern for each block; the block's output must match it
 */
export function testCodeBlocks(document: string, outputs: readonly RegExp[]): void {
  // The scripts are inside the package, so that `import 'zkwire'` resolves to it.
  const directory = join(root, '.cache', basename(document, '.md'))
  const blocks = [...readDocument(document).matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)]

  before(() => {
    expect(existsSync(join(root, 'dist', 'index.js')), 'dist/ is missing: run npm run build first').to.equal(true)
    mkdirSync(directory, { recursive: true })
  })

  let heading = 'the beginning'
  let count = 0
  for (const [, title, code] of blocks) {
    if (title !== undefined) heading = title
    if (code === undefined) continue
    const nth = ++count
    const file = join(directory, `${nth}.mjs`)
    it(`runs the code under “${heading}” and prints the expected output`, async function () {
      this.timeout(30_000)
      const server = await sharedServer()
      // Compiled here because tsx in the child process would triple its start time.
      const script = await transform(code, { loader: 'ts', target: 'node20' })
      writeFileSync(file, script.code.replaceAll('localhost:2181', server.connectString))
      const { output, code: exit } = await run(file)
      expect(exit, output).to.equal(0)
      expect(output).to.match(outputs[nth - 1] ?? /^$/)
    })
  }

  it('has as many code blocks as expected outputs', () => {
    expect(count).to.equal(outputs.length)
  })
}
