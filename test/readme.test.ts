// The README's code runs as it stands, on the built package.
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from '../src/index.ts'
import { sharedServer } from './support/shared-server.ts'

const root = join(import.meta.dirname, '..')
/** Inside the package, so that it finds itself by its name. */
const directory = join(root, '.cache', 'readme')

const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)]

/** What each of the blocks prints, among other things. */
const says = [
  /held with fencing token \d+/,
  /NodeDataChanged[^]*NODEEXISTS \/app\/a refused/,
  /NodeCreated \/config\/colour/,
  /primary with \d+/,
  /\/locks\/reports\/_c_.*-lock-/,
  /exists \{path: "\/zookeeper"/,
]

async function run(file: string): Promise<{ output: string; code: number | null }> {
  const child = spawn(process.execPath, ['--import', 'tsx', file], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { output: out + err, code }
}

describe('the README', () => {
  before(() => {
    expect(existsSync(join(root, 'dist', 'index.js')), 'npm run build comes first').to.equal(true)
    mkdirSync(directory, { recursive: true })
  })

  let heading = 'the first minute'
  let count = 0
  for (const [, title, code] of blocks) {
    if (title !== undefined) heading = title
    if (code === undefined) continue
    const nth = ++count
    const file = join(directory, `${nth}.mts`)
    it(`has code that runs under “${heading}” and says what it should`, async function () {
      this.timeout(30_000)
      const server = await sharedServer()
      writeFileSync(file, code.replaceAll('localhost:2181', server.connectString))
      const { output, code: exit } = await run(file)
      expect(exit, output).to.equal(0)
      expect(output).to.match(says[nth - 1] ?? /^$/)
    })
  }

  it('leaves nothing on the server but directories of locks', async () => {
    const zk = await connect((await sharedServer()).connectString)
    expect(await zk.exists('/app')).to.equal(null)
    await zk.deleteRecursive('/locks')
    await zk.deleteRecursive('/config')
    await zk.close()
    expect(count).to.equal(says.length)
  })
})
