// Compiles the program of the measuring processes to plain JavaScript, so that no TypeScript loader is measured.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from '@typescript/typescript6'

const here = new URL('.', import.meta.url)
const built = new URL('../../.cache/throughput/', import.meta.url)

/** Compiles the program and returns its path. */
export async function buildChild(): Promise<string> {
  const names = (await readdir(new URL('child/', here))).map(name => `child/${name}`)
  await mkdir(new URL('child/', built), { recursive: true })
  for (const name of [...names, 'workloads.ts']) {
    const { outputText } = ts.transpileModule(await readFile(new URL(name, here), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    })
    await writeFile(new URL(name.replace(/\.ts$/, '.js'), built), outputText)
  }
  return fileURLToPath(new URL('child/main.js', built))
}
