// The check for resources that tests leave open, in runs of mocha with files of this test.
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '..', '..')

const LEAKING = `it('leaks', () => { setInterval(() => undefined, 1000); throw new Error('failed before it cleaned up') })`
const REJECTING = `it('rejects', async () => {
  void Promise.reject(new Error('nobody handles it'))
  await new Promise(resolve => setTimeout(resolve, 1))
})`
const CLEAN = `it('is clean', () => undefined)`

interface Report {
  failures: { fullTitle: string; err: { message: string } }[]
}

/** Runs files with the given content in two workers of mocha, and resolves with the report. */
async function runFiles(contents: readonly string[]): Promise<Report> {
  const directory = await mkdtemp(join(tmpdir(), 'leak-check-'))
  try {
    const files = contents.map((_, i) => join(directory, `${i}.cjs`))
    for (const [i, file] of files.entries()) await writeFile(file, contents[i] ?? '')
    const options = ['--no-config', '--import=tsx', '--require', './test/support/leak-check.ts']
    const parallel = ['--parallel', '--jobs', '2', '--reporter', 'json']
    const child = spawn(join(root, 'node_modules/.bin/mocha'), [...options, ...parallel, ...files], {
      cwd: root,
      env: { ...process.env, LEAK_GRACE_PERIOD: '100' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(await text(child.stdout)) as Report
  } finally {
    await rm(directory, { recursive: true })
  }
}

describe('the check for open resources', () => {
  it('fails the file of the test that left them open, and no later file of the same process', async () => {
    const { failures } = await runFiles([LEAKING, LEAKING, ...Array<string>(8).fill(CLEAN)])
    const leaked = 'the tests have ended and these resources are still open: Timeout'
    const failed = 'failed before it cleaned up'
    expect(failures.map(({ err }) => err.message).sort()).to.deep.equal([failed, failed, leaked, leaked])
  })
})

describe('the check for unhandled rejections', () => {
  it('fails the test of each file, also of the later files of a process', async () => {
    const { failures } = await runFiles(Array<string>(6).fill(REJECTING))
    const unhandled = failures.filter(({ err }) => err.message.includes('nobody handles it'))
    expect(unhandled).to.have.length(6)
  })
})
