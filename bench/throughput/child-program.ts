// The measuring processes run plain JavaScript on the built client, as a user's program does: no loader between.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const here = new URL('.', import.meta.url)
const built = new URL('../../.cache/throughput/', import.meta.url)

/** Returns the path of the program. */
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
