// Compares worlds in Chromium with those in Node.
import { expect } from 'chai'
import { build } from 'esbuild'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { browserOptions } from '../../../site/browser-runtime/esbuild.ts'
import { LESSONS } from '../../../site/lessons/index.ts'
import { linkOf } from '../../../site/world/story-link.ts'
import type { Story } from '../../../site/world/story.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { linesOf, linesOfLesson } from '../support/played-story.ts'
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

  const linesInPage = (story: Story) => page.evaluate(`playedStory.linesOf(${JSON.stringify(story)})`)

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

  for (const { id } of LESSONS)
    it(`plays a lesson with the same frames as Node: ${id}`, async () => {
      expect(await page.evaluate(`playedStory.linesOfLesson('${id}')`)).to.deep.equal(await linesOfLesson(id))
    })

  it('has the same bytes for the same link in two fresh browsers', async () => {
    const link = linkOf(await storyOfEach('leader-election'))
    const script = await bundled()
    const [one, other] = await Promise.all(
      [1, 2].map(async () => {
        const fresh = await startChromium()
        try {
          const tab = await fresh.newPage()
          await tab.addScriptTag({ content: script })
          return await tab.evaluate<string[]>(`playedStory.linesOfLink(${JSON.stringify(link)})`)
        } finally {
          await fresh.close()
        }
      }),
    )
    expect(one).to.have.length.above(50)
    expect(one).to.deep.equal(other)
  })

  it('logs nothing to the console', () => expect(messages).to.deep.equal([]))
})
