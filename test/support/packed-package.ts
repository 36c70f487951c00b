// Installs the package as users get it: packed, in a folder of its own.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npm } from '../../environment/installed-tools.ts'
import { root } from '../../environment/needs.ts'

/** Packs the built package into a folder. Resolves with the path of the tarball. */
async function packInto(directory: string): Promise<string> {
  const packed = await npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', directory)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  return join(directory, filename)
}

/** Packs the built package and installs it in an empty folder. Resolves with the path of the tarball. */
export async function installPackage(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const tarball = await packInto(directory)
  await npm(directory, 'install', '--no-package-lock', '--offline', tarball)
  return tarball
}
