// Checks the report of `npm start -- --peers` in a browser.
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { readPeersResult, type PeersResult } from '../../bench/peers/result.ts'
import { peersReportOf } from '../../bench/report/peers.ts'
import { startChromium } from './chromium.ts'

const WIDTHS = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } }

describe('the report of the peers in a browser', () => {
  let browser: Browser
  let directory: string
  let address: string
  let result: PeersResult
  before(async () => {
    browser = await startChromium()
    directory = await mkdtemp(join(tmpdir(), 'zkwire-peers-report-'))
    const file = join(directory, 'report.html')
    result = await readPeersResult(fileURLToPath(new URL('../../docs/peers.json', import.meta.url)))
    await writeFile(file, await peersReportOf(result))
    address = pathToFileURL(file).href
  })
  after(async () => {
    await browser.close()
    await rm(directory, { recursive: true })
  })

  for (const [where, viewport] of Object.entries(WIDTHS))
    for (const colorScheme of ['light', 'dark'] as const)
      describe(`at the width of a ${where}, ${colorScheme}`, () => {
        let context: BrowserContext
        let page: Page
        const messages: string[] = []
        const requests: string[] = []
        before(async () => {
          context = await browser.newContext({ viewport, colorScheme })
          page = await context.newPage()
          page.on('console', message => messages.push(message.text()))
          page.on('pageerror', error => messages.push(error.message))
          page.on('request', request => requests.push(request.url()))
          await page.goto(address)
        })
        after(() => context.close())

        it('requests no other resource, logs no message, and is no wider than the window', async () => {
          expect(requests).to.deep.equal([address])
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
