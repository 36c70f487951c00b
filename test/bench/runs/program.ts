// Starts a program of the benchmark.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..', '..')

/** @param program the file, from the root of the repository */
export function startProgram(program: string, ...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, stdout, stderr }))
  const kill = (signal: NodeJS.Signals) => child.kill(signal)
  return { pid: child.pid ?? 0, ended, kill, stdout: () => stdout }
}

export type Program = ReturnType<typeof startProgram>
