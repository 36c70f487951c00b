// The code in a document, run as it stands on the built package and a real server.
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
 * A test for each block of TypeScript.
 * @param says what each of the blocks prints, among other things
 */
export function testCodeBlocks(document: string, says: readonly RegExp[]): void {
  // Inside the package, so that it finds itself by its name.
  const directory = join(root, '.cache', basename(document, '.md'))
  const blocks = [...readDocument(document).matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)]

  before(() => {
    expect(existsSync(join(root, 'dist', 'index.js')), 'npm run build comes first').to.equal(true)
    mkdirSync(directory, { recursive: true })
  })

  let heading = 'the beginning'
  let count = 0
  for (const [, title, code] of blocks) {
    if (title !== undefined) heading = title
    if (code === undefined) continue
    const nth = ++count
    const file = join(directory, `${nth}.mjs`)
    it(`has code that runs under “${heading}” and says what it should`, async function () {
      this.timeout(30_000)
      const server = await sharedServer()
      // Here, and not by tsx in the process: that would start thrice as long.
      const script = await transform(code, { loader: 'ts', target: 'node20' })
      writeFileSync(file, script.code.replaceAll('localhost:2181', server.connectString))
      const { output, code: exit } = await run(file)
      expect(exit, output).to.equal(0)
      expect(output).to.match(says[nth - 1] ?? /^$/)
    })
  }

  it('says no more than is listened to', () => {
    expect(count).to.equal(says.length)
  })
}
