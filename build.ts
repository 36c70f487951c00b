// `npm run build`: the ES modules in dist, and CommonJS modules in dist/cjs. Jest and other loaders that implement
// require() themselves cannot load ES modules.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'

/** Not `tsc`, because TypeScript 6 has a command of that name too. */
const COMPILER = 'node_modules/typescript/bin/tsc'

rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'tsconfig.commonjs.json']) {
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', project], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')
