// Checks the report of `npm run bench -- peers` in a browser.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { readPeersResult, type PeersResult } from '../../bench/peers/result.ts'
import { peersReportOf } from '../../bench/peers/report.ts'
import { startChromium } from '../../environment/chromium.ts'
import { openWindow, pageFile, WIDTHS } from './report-window.ts'

describe('the report of the peers in a browser', () => {
  let browser: Browser
  let file: Awaited<ReturnType<typeof pageFile>>
  let result: PeersResult
  before(async () => {
    browser = await startChromium()
    result = await readPeersResult(fileURLToPath(new URL('../../docs/peers.json', import.meta.url)))
    file = await pageFile(await peersReportOf(result))
  })
  after(async () => {
    await browser.close()
    await file.remove()
  })

  for (const [where, viewport] of Object.entries(WIDTHS))
    for (const colorScheme of ['light', 'dark'] as const)
      describe(`at the width of a ${where}, ${colorScheme}`, () => {
        let context: BrowserContext
        let page: Page
        let messages: string[]
        let requests: string[]
        before(async () => {
          const opened = await openWindow(browser, file.address, { viewport, colorScheme })
          ;({ context, page, messages, requests } = opened)
        })
        after(() => context.close())

        it('requests no other resource, logs no message, and is no wider than the window', async () => {
          expect(requests).to.deep.equal([file.address])
          expect(messages).to.deep.equal([])
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(viewport.width)
        })

        it('draws one release of each lock, in the order of the libraries', async () => {
          const drawn: unknown = await page.evaluate("[...document.querySelectorAll('.timeline')].map(({ id }) => id)")
          const recipes = result.libraries.flatMap(({ recipes }) => recipes.map(({ id }) => `timeline-${id}`))
          expect(drawn).to.deep.equal(recipes)
        })

        it('plays the releases frame by frame', async () => {
          const slider = page.getByRole('slider', { name: 'frames so far' })
          await slider.focus()
          await page.keyboard.press('Home')
          await page.getByRole('button', { name: 'one frame forward' }).click()
          const lock = page.locator('#timeline-zoo-lock')
          expect(await lock.locator('[data-step]:not(.later)').count()).to.equal(1)
          expect(await lock.locator('.now').textContent()).to.match(/^The holder requests: delete/)
        })
      })
})
