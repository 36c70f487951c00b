// The notices of the packages that the page of the playground contains.
import { expect } from 'chai'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noticesOf } from '../../../site/browser-runtime/notices.ts'
import { buildPlayground } from '../../../site/playground/build.ts'

const root = join(import.meta.dirname, '..', '..', '..')

describe('the notices of third parties', () => {
  it('are a part of the page, for each package in it: its name, its version and its licence', async () => {
    const { html, notices } = await buildPlayground()
    const names = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+ \(.+\)$/gm)].map(([, name]) => name)
    expect(names).to.deep.equal(['base64-js', 'buffer', 'ieee754', 'preact'])
    // As in the licences of MIT, and of BSD for ieee754.
    expect(notices.match(/Copyright .*/g)).to.have.length.above(names.length - 1)
    expect(notices).to.match(/Copyright .* Jason Miller[^]*permission notice shall be included/)
    const comment = /<!--([^]*?)-->/.exec(html)?.[1] ?? ''
    expect(comment.replaceAll(/- (?=-)/g, '-')).to.include(notices)
    expect(comment).not.to.include('--')
  })

  it('name only packages that npm ci installs for the build, without the tools of the site', async () => {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: object }
    const { notices } = await buildPlayground()
    for (const [, name] of notices.matchAll(/^(\S+) \d+\.\d+\.\d+ \(.+\)$/gm))
      expect(Object.keys(lock.packages)).to.include(`node_modules/${name}`)
  })

  it('are refused if a package has no file of its licence', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'zkwire-notices-'))
    try {
      const own = join(folder, 'node_modules/@some/one')
      await mkdir(own, { recursive: true })
      await writeFile(join(own, 'package.json'), '{ "name": "@some/one", "version": "1.0.0", "license": "MIT" }')
      const files = ['src/index.ts', 'node_modules/@some/one/dist/index.js', 'node_modules/@some/one/dist/more.js']
      const error = await noticesOf(files, folder).catch((error: unknown) => String(error))
      expect(error).to.equal('Error: @some/one 1.0.0 has no file of its licence (MIT), so it must not be bundled')
      await writeFile(join(own, 'LICENSE.md'), 'Copyright One\n')
      expect(await noticesOf(files, folder)).to.equal('@some/one 1.0.0 (MIT)\n\nCopyright One\n')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
