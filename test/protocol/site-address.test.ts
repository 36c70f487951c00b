// The address of a page at the end of an error's message, which appears when the site has an address.
import { expect } from 'chai'
import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { anchorOf } from '../../site/pages/document.ts'
import { siteAddress } from '../../src/protocol/site-address.ts'
import type { ZooKeeperError as Call } from '../../src/protocol/index.ts'
import type { RecipeError as Recipe } from '../../src/recipes/index.ts'
import { ofCalls, ofRecipes } from '../support/error-meanings.ts'

const ADDRESS = 'https://example.org/zkwire'

/** Builds the two classes of errors as they are when the site has an address. */
async function withAddress(): Promise<{ ZooKeeperError: typeof Call; RecipeError: typeof Recipe }> {
  const src = join(import.meta.dirname, '..', '..', 'src')
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ZooKeeperError } from './protocol/errors.ts'; export { RecipeError } from './recipes/call/recipe-error.ts'`,
      resolveDir: src,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [
      {
        name: 'address',
        setup: building => {
          building.onLoad({ filter: /site-address\.ts$/ }, async ({ path }) => {
            const text = await readFile(path, 'utf8')
            return {
              contents: text.replace("siteAddress: string = ''", `siteAddress: string = '${ADDRESS}'`),
              loader: 'ts',
            }
          })
        },
      },
    ],
  })
  const code = outputFiles[0]?.text ?? ''
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as never
}

describe('the message of an error', () => {
  it('names no page as long as the site has no address', () => expect(siteAddress).to.equal(''))

  it('ends with the address of the section about it once the site has an address', async () => {
    const { ZooKeeperError, RecipeError } = await withAddress()
    for (const [heading] of ofCalls) {
      const { message } = new ZooKeeperError(heading as 'NONODE', { op: 'create', path: '/a', fate: 'refused' })
      expect(message).to.match(
        new RegExp(`^${heading}: create /a: .*\\. See ${ADDRESS}/troubleshooting\\.html#${anchorOf(heading)}$`),
      )
    }
    for (const [heading] of ofRecipes) {
      const { message } = new RecipeError(heading.split(' ')[0] as 'LOST', '/locks/a', { detail: 'a detail' })
      expect(message).to.match(new RegExp(`: a detail\\. See ${ADDRESS}/troubleshooting\\.html#${anchorOf(heading)}$`))
    }
  })
})
