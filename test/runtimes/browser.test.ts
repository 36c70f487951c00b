// Runs the suite in Chromium, with zkwire/browser of the installed package. A browser has no TCP.
import { expect } from 'chai'
import { build, type BuildOptions } from 'esbuild'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { browserOptions } from '../../site/browser-runtime/esbuild.ts'
import { startChromium } from '../../environment/chromium.ts'
import { root } from '../../environment/needs.ts'
import { installPackage } from '../support/packed-package.ts'
import { compile } from './bundle.ts'
import { stepsWithoutSockets, type SuiteResult } from './suite.ts'

const user = join(root, '.cache', 'runtimes', 'tab')

/** Bundles a program of the user's folder for a browser. */
async function bundled(name: string, settings: Pick<BuildOptions, 'alias' | 'inject'> = {}): Promise<string> {
  const { outputFiles } = await build({
    ...settings,
    entryPoints: [join(user, name)],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

describe('the package in a browser', () => {
  let browser: Browser
  let page: Page
  let result: SuiteResult
  before(async function () {
    this.timeout(120_000)
    await mkdir(user, { recursive: true })
    await installPackage(user)
    browser = await startChromium()
    page = await browser.newPage()
    await compile(join(import.meta.dirname, 'tab.ts'), join(user, 'suite-tab.js'), 'zkwire/browser')
    // The suite itself needs these two. The package needs nothing.
    const alias = { 'node:assert/strict': join(import.meta.dirname, 'browser-assert.ts') }
    const content = await bundled('suite-tab.js', { alias, inject: browserOptions.inject })
    await page.addScriptTag({ content, type: 'module' })
    await page.waitForFunction('globalThis.runSuite !== undefined')
    result = (await page.evaluate('runSuite()')) as SuiteResult
  })
  after(() => browser.close())

  it('reports the expected name and version', () => expect(result.runtime).to.match(/^Chromium \d+\./))

  for (const step of Object.keys(stepsWithoutSockets))
    it(step, () => expect(result.failures[step], result.failures[step] ?? 'the step was not run').to.equal(null))

  it('says what a browser lacks, and what to do instead', async () => {
    const messages = (await page.evaluate('refusals()')) as Record<string, string>
    expect(messages).to.have.all.keys('connect', 'connectTls', 'listen', 'dataFile', 'byContext')
    expect(messages['connect']).to.match(/a browser has no TCP: pass the option `dial`/)
    expect(messages['connectTls']).to.match(/a browser has no TCP/)
    expect(messages['listen']).to.match(/start the server with `listen: false`/)
    expect(messages['dataFile']).to.match(/a browser has no files/)
    expect(messages['byContext']).to.match(/name the owner of a ReentrantMutex by the option `owner`/)
  })

  it('runs the program of docs/runtimes.md for a tab', async () => {
    const document = readFileSync(join(root, 'docs', 'runtimes.md'), 'utf8')
    const [, program = ''] = /^```js tab\.js\n([^]*?)^```$/m.exec(document) ?? []
    await writeFile(join(user, 'tab.js'), program)
    const tab = await browser.newPage()
    const message = tab.waitForEvent('console')
    await tab.addScriptTag({ content: await bundled('tab.js'), type: 'module' })
    expect((await message).text()).to.match(/^held with \d+$/)
    await tab.close()
  })
})
