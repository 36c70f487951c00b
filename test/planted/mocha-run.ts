// Runs one test file in a process of its own, and returns the first failure that an assertion or an error caused.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../../environment/needs.ts'

export type Outcome =
  | { is: 'passed'; tests: number }
  | { is: 'failed'; title: string; error: string }
  /** No test ran, because the file or what it imports could not be loaded. */
  | { is: 'broken'; error: string }
  /** The only failures are tests that ran out of time, or the process did. */
  | { is: 'timed out' }

/** The time limit of a process, ms. */
const TIME_LIMIT = 300_000
/** The time limit of a test, ms. It is longer than the tests take, even on a busy machine. */
const TEST_TIMEOUT = 60_000

/**
 * The file that the command `mocha` runs in a second process, for the option `import` of its configuration. It must not
 * be named by a symbolic link, or it does nothing.
 */
const mocha = realpathSync(join(root, 'node_modules/mocha/lib/cli/cli.js'))

type Report = [kind: 'start' | 'pass' | 'fail' | 'end', details: { fullTitle?: string; err?: string }]

/** Runs a test file of the copy in `directory`. Ends the process at the first failure that is no timeout. */
export async function runTestFile(directory: string, testFile: string): Promise<Outcome> {
  const args = ['--exit', '--reporter', 'json-stream', '--timeout', String(TEST_TIMEOUT), testFile]
  const child = spawn(process.execPath, ['--import', 'tsx/esm', mocha, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that the servers that a test started end with it.
    detached: true,
  })
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended.
    }
  }
  const limit = setTimeout(endGroup, TIME_LIMIT)
  let [errors, passed, timeouts, finished] = ['', 0, 0, false]
  let failure: Outcome | undefined
  child.stderr.on('data', chunk => (errors += String(chunk)))
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) {
    const report = reportIn(line)
    if (report === undefined) continue
    const [kind, { fullTitle = '', err = '' }] = report
    if (kind === 'pass') passed++
    if (kind === 'end') finished = true
    if (kind !== 'fail') continue
    if (/^Timeout of /.test(err)) timeouts++
    else {
      failure = { is: 'failed', title: fullTitle, error: err.split('\n')[0] ?? '' }
      break
    }
  }
  endGroup()
  await ended
  clearTimeout(limit)
  if (failure !== undefined) return failure
  if (timeouts > 0 || (passed > 0 && !finished)) return { is: 'timed out' }
  return passed === 0 ? { is: 'broken', error: errors.trim().slice(-500) } : { is: 'passed', tests: passed }
}

function reportIn(line: string): Report | undefined {
  try {
    const parsed: unknown = JSON.parse(line)
    return Array.isArray(parsed) ? (parsed as Report) : undefined
  } catch {
    return undefined
  }
}
