// The processes of examples/web and examples/nest, compiled as their users do, with the built package.
import { execFile } from 'node:child_process'
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../environment/free-port.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { root, webFrameworks } from '../../environment/needs.ts'
import { ServiceProcess } from './service-process.ts'

export type ExampleName = 'web' | 'nest'

/**
 * Compiles an example with its own tsconfig.json. Resolves with its folder.
 * @throws Error with the problems that TypeScript reports
 */
export async function compileWebExample(name: ExampleName): Promise<string> {
  const modules = await installTools(webFrameworks)
  await rm(join(modules, 'zkwire'), { force: true, recursive: true })
  await symlink(root, join(modules, 'zkwire'))
  const folder = join(dirname(modules), name)
  await rm(folder, { force: true, recursive: true })
  await mkdir(folder)
  for (const each of ['src', 'tsconfig.json'])
    await cp(join(root, 'examples', name, each), join(folder, each), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout)
  })
  return folder
}

/**
 * Starts `count` processes of a compiled example.
 * @param timeout how long a request may wait for a lock, in milliseconds
 */
export const startWebExample = (
  folder: string,
  count: number,
  servers: string,
  { sessionTimeout, timeout }: { sessionTimeout: number; timeout: number },
): Promise<ServiceProcess[]> => {
  const limits = { SESSION_TIMEOUT: `${sessionTimeout}`, TIMEOUT: `${timeout}` }
  const env = { ...limits, ZOOKEEPER: servers, HOST: '127.0.0.1' }
  const start = async () => new ServiceProcess(join(folder, 'dist/main.js'), await freePort(), env)
  return Promise.all(Array.from({ length: count }, start))
}
