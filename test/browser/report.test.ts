// Checks the report of the benchmark in a browser.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { reportOf } from '../../bench/report/report.ts'
import { readResult, type Result } from '../../bench/output/result.ts'
import { startChromium } from '../../environment/chromium.ts'
import { openWindow, pageFile, WIDTHS } from './report-window.ts'

const recorded = fileURLToPath(new URL('../../docs/herd.json', import.meta.url))

describe('the report in a browser', () => {
  let browser: Browser
  let file: Awaited<ReturnType<typeof pageFile>>
  let result: Result
  before(async () => {
    browser = await startChromium()
    result = await readResult(recorded)
    file = await pageFile(await reportOf(result))
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

        it('requests no other resource, and logs no message', () => {
          expect(requests).to.deep.equal([file.address])
          expect(messages).to.deep.equal([])
        })

        it('is no wider than the window', async () => {
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(viewport.width)
        })

        it('draws a visible point for each lock and size, and the theory', async () => {
          const locks = result.scenarios.filter(({ kind }) => kind === 'lock').map(({ name }) => name)
          const sizes = new Set(result.cells.map(({ size }) => size)).size
          const plot = page.getByRole('img', { name: /^Bytes read after one release/ })
          const points = await plot.locator('g.point path, g.point circle').all()
          expect(points).to.have.length(locks.length * sizes)
          for (const point of points) expect((await point.boundingBox())?.width).to.be.above(2)
          expect(await plot.locator('g.theory path').count()).to.equal(locks.length)
        })

        it('has readable text on its background', async () => {
          expect(await contrastOf(page, 'body')).to.be.above(7)
          for (const faint of ['.sum', '.legend', 'caption', 'dt'])
            expect(await contrastOf(page, faint), faint).to.be.above(4.5)
          for (const name of await page.locator('.plot-svg text[fill^="var"], .plot-svg g[fill^="var"] text').all())
            expect((await name.boundingBox())?.height).to.be.above(9)
        })

        it('forecasts with the numbers that a reader types, by keyboard', async () => {
          const forecast = page.locator('.forecast')
          const field = (name: string) => page.getByRole('spinbutton', { name })
          await field('contenders').focus()
          await page.keyboard.press('Control+A')
          await page.keyboard.type('1000000')
          for (const value of ['20', '2']) {
            await page.keyboard.press('Tab')
            await page.keyboard.type(value)
          }
          expect(await forecast.locator('.conditions').textContent()).to.equal(
            'With 1,000,000 contenders that hold the lock for 20.0 ms each, a round trip of 2.00 ms, 1 server with 4 cores and a line of 1.00 Gbit/s:',
          )
          expect(await forecast.getByRole('listitem').first().textContent()).to.match(/^Take TicketMutex\./)
          await field('contenders').fill('1')
          expect(await forecast.locator('.verdict').textContent()).to.match(
            /^\s*contenders: a whole number from 2 to 1000000000 please\.\s*$/,
          )
          await field('contenders').fill('10')
          expect(await forecast.getByRole('listitem').first().textContent()).to.match(/^Take Mutex/)
          expect(await forecast.locator('.verdict').textContent()).to.match(/^HerdMutex does not break with 10 /)
          await page.getByText('Your lock, and your servers').click()
          await page.getByRole('combobox', { name: 'your lock' }).selectOption('TicketMutex')
          expect(await forecast.locator('.verdict').textContent()).to.match(/^TicketMutex does not break /)
          for (const name of ['contenders', 'cores of each server'])
            expect((await field(name).boundingBox())?.height).to.be.at.least(44)
          expect(await contrastOf(page, '.forecast-form input')).to.be.above(7)
          expect(await contrastOf(page, '.forecast-form label')).to.be.above(4.5)
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(viewport.width)
        })

        it('plays the release by keyboard, step by step, and announces the frame', async () => {
          const slider = page.getByRole('slider', { name: 'frames so far' })
          const steps = Number(await slider.getAttribute('max'))
          await slider.focus()
          await page.keyboard.press('Home')
          expect(await page.locator('output.count').textContent()).to.equal(`frame 0 of ${steps}`)
          const mutex = page.locator('#timeline-mutex')
          const shown = () => mutex.locator('[data-step]:not(.later)').count()
          expect(await shown()).to.equal(0)
          await page.keyboard.press('Tab')
          expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).to.equal('one frame forward')
          await page.keyboard.press('Enter')
          await page.keyboard.press('Enter')
          expect(await shown()).to.equal(2)
          expect(await mutex.locator('.now').textContent()).to.match(/^(Session 1|The holder) /)
          await page.getByRole('button', { name: 'one frame back' }).press('Space')
          expect(await shown()).to.equal(1)
        })

        it('plays automatically to the end, and can be paused', async () => {
          await page.clock.install({ time: 0 })
          await page.goto(file.address)
          await page.clock.pauseAt(60_000)
          const slider = page.getByRole('slider')
          const steps = Number(await slider.getAttribute('max'))
          await page.getByRole('button', { name: 'Play' }).click()
          await page.clock.runFor(1000)
          const at = Number(await slider.inputValue())
          expect(at).to.be.within(1, steps - 1)
          await page.getByRole('button', { name: 'Pause' }).click()
          await page.clock.runFor(1000)
          expect(Number(await slider.inputValue())).to.equal(at)
          await page.getByRole('button', { name: 'Play' }).click()
          await page.clock.runFor(60_000)
          expect(Number(await slider.inputValue())).to.equal(steps)
          await page.getByRole('button', { name: 'Play' }).waitFor()
        })
      })

  it('has an accessible name for each control and picture', async () => {
    const page = await browser.newPage()
    await page.goto(file.address)
    const pictures = page.getByRole('img')
    expect(await pictures.count()).to.be.above(6)
    for (const picture of await pictures.all()) expect(await picture.getAttribute('aria-label')).to.match(/\w+.*\d/)
    for (const control of await page.locator('button, input, [tabindex="0"]').all()) {
      const label = await control.getAttribute('aria-label')
      const name = label ?? (await control.evaluate('control => (control.labels?.[0] ?? control).textContent'))
      expect(String(name).trim()).not.to.equal('')
    }
    expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1)
    for (const table of await page.getByRole('table').all()) expect(await table.locator('caption').count()).to.equal(1)
    await page.close()
  })

  it('shows everything without its script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(file.address)
    expect(await page.locator('.later').count()).to.equal(0)
    expect(await page.locator('.player').isVisible()).to.equal(false)
    expect(await page.locator('.forecast-form').isVisible()).to.equal(false)
    expect(await page.locator('.forecast').textContent()).to.contain('With 10,000 contenders')
    await context.close()
  })
})

/** Returns the contrast of an element's text, by WCAG 2. */
const contrastOf = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)})
    const luminance = colour => {
      const [r, g, b] = colour.match(/[0-9.]+/g).map(Number).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    let behind = element
    while (/, 0\\)$/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(luminance)
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  })()`)
