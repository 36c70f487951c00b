// `npm run build`: the ES modules in dist, CommonJS modules in dist/cjs, the bundles for browsers, the page of `zkwire
// playground`, and the notices of the packages in that page, which has those of the bundles too. Jest and other loaders that
// implement require() themselves cannot load ES modules.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build, transformSync } from 'esbuild'
import manifest from './package.json' with { type: 'json' }
import { browserOptions } from './site/browser-runtime/esbuild.ts'
import { buildPlayground } from './site/playground/build.ts'

/** Not `tsc`, because TypeScript 6 has a command of that name too. */
const COMPILER = 'node_modules/typescript/bin/tsc'

/** The types of the runtime that declarations use, and that a user's compiler may not know. */
const GLOBALS = 'runtime/globals.d.ts'
const HANDWRITTEN = [GLOBALS, 'runtime/node-types.d.ts']

rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'tsconfig.commonjs.json']) {
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', project], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')
const playground = await buildPlayground()
writeFileSync('dist/playground.html', playground.html)
writeFileSync('dist/third-party-notices.txt', playground.notices)

for (const file of readdirSync('dist/cjs', { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.d.ts')) completeDeclarations(file)
for (const file of HANDWRITTEN) copyFileSync(`src/${file}`, `dist/cjs/${file}`)

// The ES modules have the types of the CommonJS modules. With types of their own, TypeScript would not accept a client
// of one kind for the other, because classes with private members are compared by name.
for (const entryPoint of Object.values(manifest.exports))
  if (typeof entryPoint !== 'string') {
    const { types } = entryPoint.import
    writeFileSync(types, `export * from '${pathFrom(dirname(types), entryPoint.require.default)}'\n`)
  }

// Nobody imports the program, so the package has neither its sources nor maps to them.
for (const file of readdirSync('dist/cli', { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.map')) rmSync(join('dist/cli', file))

for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.js')) removeComments(join('dist', file))

// Both are made before the first is written, because the input is one of them.
const bundles = await Promise.all(
  (['esm', 'cjs'] as const).map(format =>
    build({ ...browserOptions, entryPoints: ['dist/browser/index.js'], format, minify: true, write: false }),
  ),
)
for (const [i, folder] of ['dist/browser', 'dist/cjs/browser'].entries())
  writeFileSync(`${folder}/index.js`, bundles[i]?.outputFiles[0]?.text ?? '')
rmSync('dist/browser/index.js.map')

/**
 * Removes the comments of a module, because `src` has them, which is in the package too, and they were a tenth of it. The
 * compiler can do so only if it leaves the comments out of the declarations too.
 */
function removeComments(path: string): void {
  const map = `${path}.map`
  const code = readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '')
  if (!existsSync(map)) return writeFileSync(path, transformSync(code).code)
  const input = `\n//# sourceMappingURL=data:application/json;base64,${readFileSync(map, 'base64')}`
  // The name of the module must not count as a source: those of the map are relative to its folder.
  const output = transformSync(code + input, { sourcemap: 'external', sourcesContent: false })
  writeFileSync(path, `${output.code}//# sourceMappingURL=${basename(map)}\n`)
  // A module that only has types has no code to map, so esbuild finds no source for the new map. The old map is true.
  if (!output.map.includes('<stdin>')) writeFileSync(map, output.map)
}

/** Makes a declaration file import the types of the runtime, and other files by the names that they have in dist. */
function completeDeclarations(file: string): void {
  const path = join('dist/cjs', file)
  const text = readFileSync(path, 'utf8').replaceAll(/(["']\.[^"']+?)(?:\.d)?\.ts(["'])/g, '$1.js$2')
  const code = text.replaceAll(/\/\*.*?\*\//gs, '')
  const used = ['AbortSignal', 'Buffer'].filter(name => new RegExp(`\\b${name}\\b`).test(code))
  const needsGlobals = used.length > 0 || code.includes('Symbol.asyncDispose')
  const globals = pathFrom(dirname(file), GLOBALS).replace('.d.ts', '.js')
  const imports = needsGlobals ? `import type { ${used.join(', ')} } from '${globals}'\n` : ''
  // At the end, so that the declaration map stays right. Its own comment must be the last line.
  writeFileSync(path, text.replace(/\n?(?=\/\/# sourceMappingURL)/, `\n${imports}`))
}

/** Returns a path as an import of a file in `directory` writes it. */
function pathFrom(directory: string, path: string): string {
  const result = relative(directory, path)
  return result.startsWith('.') ? result : `./${result}`
}
