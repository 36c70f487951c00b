// Installs tools from npm that only one suite needs, in a folder of their own.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NpmTools } from './needs.ts'
import { expectDeclared } from './suites.ts'

export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd })
  return stdout
}

/** Installs the tools, unless the last run has installed the same ones. Resolves with the path of their node_modules. */
export async function installTools(tools: NpmTools): Promise<string> {
  const { directory, manifest, name, how } = tools
  expectDeclared(tools)
  if (!(await tools.isInstalled())) {
    process.stderr.write(`${name} is missing: ${how}\n`)
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'package.json'), manifest)
    await npm(directory, 'install', '--no-package-lock', '--no-audit', '--no-fund')
    if (tools.compiled !== undefined) await npm(directory, 'rebuild', '--foreground-scripts', tools.compiled)
    await writeFile(join(directory, 'complete.json'), manifest)
  }
  return join(directory, 'node_modules')
}
