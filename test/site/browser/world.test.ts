// Compares worlds in Chromium with those in Node.
import { expect } from 'chai'
import { build } from 'esbuild'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { browserOptions } from '../../../site/browser-runtime/esbuild.ts'
import type { Story } from '../../../site/world/story.ts'
import { startChromium } from '../../browser/chromium.ts'
import { linesOf } from '../support/played-story.ts'
import { recipeIds, storyOf, storyOfEach } from '../support/stories.ts'

/** The code of {@link linesOf} for a page. */
async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    ...browserOptions,
    entryPoints: [join(import.meta.dirname, '..', 'support', 'played-story.ts')],
    globalName: 'playedStory',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

describe('a world in a browser', () => {
  let browser: Browser
  let page: Page
  const messages: string[] = []
  before(async () => {
    browser = await startChromium()
    page = await browser.newPage()
    page.on('console', message => messages.push(message.text()))
    page.on('pageerror', error => messages.push(error.message))
    await page.addScriptTag({ content: await bundled() })
  })
  after(() => browser.close())

  const linesInPage = (story: Story) =>
    page.evaluate(
      given => (globalThis as unknown as { playedStory: { linesOf: typeof linesOf } }).playedStory.linesOf(given),
      story,
    )

  for (const recipe of recipeIds)
    it(`has the same frames and the same picture as in Node: ${recipe}`, async () => {
      const story = await storyOfEach(recipe)
      expect(await linesInPage(story)).to.deep.equal(await linesOf(story))
    })

  it('has the same frames as in Node with 60 clients', async () => {
    const story = await storyOf({ recipe: 'herd-mutex', clients: 60, servers: 1, seed: 1 }, [
      { kind: 'release', client: 1 },
    ])
    expect(await linesInPage(story)).to.deep.equal(await linesOf(story))
  })

  it('logs nothing to the console', () => expect(messages).to.deep.equal([]))
})
