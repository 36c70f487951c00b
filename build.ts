// `npm run build`: the ES modules in dist, and CommonJS modules in dist/cjs. Jest and other loaders that implement
// require() themselves cannot load ES modules.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Not `tsc`, because TypeScript 6 has a command of that name too. */
const COMPILER = 'node_modules/typescript/bin/tsc'

/** The types of the runtime that declarations use, and that a user's compiler may not know. */
const GLOBALS = 'runtime/globals.d.ts'

rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'tsconfig.commonjs.json']) {
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', project], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')

for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter(each => each.endsWith('.d.ts')))
  completeDeclarations(file)
for (const target of ['dist', 'dist/cjs']) copyFileSync(`src/${GLOBALS}`, join(target, GLOBALS))

/** Makes a declaration file import the types of the runtime, and other files by the names that they have in dist. */
function completeDeclarations(file: string): void {
  const text = readFileSync(`dist/${file}`, 'utf8').replaceAll(/(["']\.[^"']+?)(?:\.d)?\.ts(["'])/g, '$1.js$2')
  const code = text.replaceAll(/\/\*.*?\*\//gs, '')
  const used = ['AbortSignal', 'Buffer'].filter(name => new RegExp(`\\b${name}\\b`).test(code))
  const globals = relative(dirname(file), file.startsWith('cjs/') ? `cjs/${GLOBALS}` : GLOBALS).replace('.d.ts', '.js')
  const path = globals.startsWith('.') ? globals : `./${globals}`
  const needsGlobals = used.length > 0 || code.includes('Symbol.asyncDispose')
  const imports = needsGlobals ? `import type { ${used.join(', ')} } from '${path}'\n` : ''
  // At the end, so that the declaration map stays right. Its own comment must be the last line.
  writeFileSync(`dist/${file}`, text.replace(/\n?(?=\/\/# sourceMappingURL)/, `\n${imports}`))
}
