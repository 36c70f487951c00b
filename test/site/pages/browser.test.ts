// The pages in Chromium: accessibility, width, requests, the search.
import { expect } from 'chai'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { guides } from '../../../site/pages/contents.ts'
import { ofCalls, ofRecipes } from '../../support/error-meanings.ts'
import { startChromium } from '../../../environment/chromium.ts'
import type { Site } from '../../../site/pages/build.ts'
import { builtSite, serve, write } from './built-site.ts'

const VIEWS = {
  'in a wide, light window': { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  'on a phone, in the dark': { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const

const PAPER = { top: '15mm', bottom: '15mm', left: '15mm', right: '15mm' }

describe('the site in a browser', () => {
  let browser: Browser
  let site: Site
  let server: Awaited<ReturnType<typeof serve>>

  before(async function () {
    this.timeout(300_000)
    browser = await startChromium()
    site = await builtSite()
    server = await serve(site)
  })
  after(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })

  for (const [view, options] of Object.entries(VIEWS))
    it(`each page passes axe ${view}, fits into it, requests no other resource and logs nothing`, async function () {
      this.timeout(600_000)
      const problems: string[] = []
      const context = await browser.newContext({ ...options, reducedMotion: 'reduce' })
      const page = await context.newPage()
      let path = ''
      page.on('console', message => problems.push(`${path} logs: ${message.text()}`))
      page.on('pageerror', error => problems.push(`${path} throws: ${error.message}`))
      page.on('request', request => {
        if (!request.url().startsWith(server.address)) problems.push(`${path} requests ${request.url()}`)
      })
      page.on('response', response => {
        if (!response.ok()) problems.push(`${path}: ${response.url()} is missing`)
      })
      // The playground has tests of its own.
      for (path of site.keys()) {
        if (!path.endsWith('.html') || path === 'playground.html') continue
        await page.goto(server.address + path)
        const width = await page.evaluate('document.documentElement.scrollWidth')
        if (Number(width) > options.viewport.width) problems.push(`${path} is ${String(width)} pixels wide`)
        problems.push(...(await axeViolations(page)).map(violation => `${path}: ${violation}`))
      }
      await context.close()
      expect(problems).to.deep.equal([])
    })

  it('plays the scenes of the guides in frames, and shows their pictures to a reader without scripts', async function () {
    this.timeout(300_000)
    for (const name of ['herd', 'locks', 'protocol']) {
      await using context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
      const page = await context.newPage()
      await page.goto(`${server.address}${name}.html`)
      const frame = page.frameLocator('iframe.scene')
      await page.locator('iframe.scene').scrollIntoViewIfNeeded()
      await frame.getByRole('button', { name: 'one frame forward' }).click()
      await frame.getByText(/^Frame \d+: delete request/).waitFor({ state: 'attached' })
      expect(await page.locator('a.scene').count()).to.equal(0)

      await using withoutScripts = await browser.newContext({ javaScriptEnabled: false })
      const still = await withoutScripts.newPage()
      await still.goto(`${server.address}${name}.html`)
      expect(await still.locator('iframe').count()).to.equal(0)
      expect(await still.locator('a.scene img').getAttribute('alt')).to.match(/^The stage of the playground: /)
      expect(await still.locator('a.scene').getAttribute('href')).to.match(/^playground\.html#1;/)
    }
  })

  it('folds the answers of the page for teachers, and prints the sheet on two pages', async () => {
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.address}teaching.html`)
    const answer = page.getByText('It does not know how long to wait for the answer')
    expect(await answer.isVisible()).to.equal(false)
    await page.getByText('Why does the server not ask the client').click()
    expect(await answer.isVisible()).to.equal(true)
    expect(await page.locator('a[href="playground.html#exercise=owner"]').count()).to.be.above(1)
    await page.goto(`${server.address}teaching-sheet.html`)
    const pdf = (await page.pdf({ format: 'A4', margin: PAPER })).toString('latin1')
    expect(pdf.match(/\/Type \/Page\b/g)).to.have.length(2)
  })

  it('shows each line of the first program in one line, and no claim alone in its row, in a window of 1280 pixels', async () => {
    await using context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${server.address}index.html`)
    const heightOfProgram = "[...document.querySelectorAll('.hero .code pre')].at(-1).getBoundingClientRect().height"
    const height = await page.evaluate(heightOfProgram)
    await page.evaluate("[...document.querySelectorAll('.hero .code pre')].at(-1).style.whiteSpace = 'pre'")
    expect(await page.evaluate(heightOfProgram)).to.equal(height)
    const tops = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.claims > li')].map(claim => claim.getBoundingClientRect().top)",
    )
    expect(tops).to.have.length(4)
    expect(tops.filter(top => tops.filter(other => other === top).length === 1)).to.deep.equal([])
  })

  it('has the same distance between the title and the text on the page of the report as on a guide', async () => {
    await using context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const distances: unknown[] = []
    for (const path of ['report.html', 'herd.html']) {
      await page.goto(server.address + path)
      distances.push(
        await page.evaluate(
          "document.querySelector('main p').getBoundingClientRect().top - document.querySelector('main h1').getBoundingClientRect().bottom",
        ),
      )
    }
    expect(distances[0]).to.be.closeTo(Number(distances[1]), 1)
  })

  describe('the search', () => {
    let context: BrowserContext
    let page: Page
    beforeEach(async () => {
      context = await browser.newContext()
      page = await context.newPage()
      await page.goto(`${server.address}locks.html`)
    })
    afterEach(() => context.close())
    const titles = () => page.getByRole('list', { name: 'Results' }).locator('strong').allTextContents()
    const searchFor = async (words: string) => {
      await page.getByRole('searchbox').fill(words)
      await page.getByRole('status').filter({ hasText: /found/i }).waitFor()
    }

    it('finds names of the API and headings of the guides', async () => {
      await page.getByRole('button', { name: 'Search' }).click()
      for (const [words, title] of Object.entries({
        TicketMutex: 'TicketMutex',
        'tryAcquire mutex': 'Mutex.tryAcquire()',
        validFor: 'Client.validFor()',
        'shut down': 'Shut down',
        handshake: 'The handshake',
        'lock service promise': 'What no lock service can promise',
        dialct: 'Dialect',
        // The question of a step, the explanation after it, a section of the report, and a command of the playground.
        'twice clients bytes': 'The herd, step 2',
        'parabola herd': 'The herd, step 2',
        'does your ensemble break': 'At which N does your ensemble break, and what should you do?',
        'long garbage collection': 'Playground',
      })) {
        await searchFor(words)
        expect(await titles(), words).to.include(title)
      }
    })

    it('finds the section of each error by the words of its message, and by a whole message with a path', async () => {
      await page.getByRole('button', { name: 'Search' }).click()
      for (const [heading, meaning] of [...ofCalls, ...ofRecipes]) {
        await searchFor(meaning)
        expect((await titles()).slice(0, 3), meaning).to.include(heading)
        const message = `${heading.split(' ')[0]}: create /shop/orders-0000000017: ${meaning} (and a detail)`
        await searchFor(message)
        expect((await titles()).slice(0, 3), message).to.include(heading)
      }
    })

    it('opens by the key "/", and leads by the keyboard alone to what it found', async () => {
      await page.keyboard.press('/')
      await searchFor('new VirtualClock')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowUp')
      expect(await page.evaluate('document.activeElement.type')).to.equal('search')
      await Promise.all([page.waitForURL(/api\/zkwire-testing\/VirtualClock\.html/), page.keyboard.press('Enter')])
    })

    it('says that it found nothing, closes by Escape, and passes axe while it is open', async () => {
      await page.keyboard.press('Control+k')
      await searchFor('session')
      expect(await axeViolations(page)).to.deep.equal([])
      await searchFor('xyzzyplugh')
      expect(await page.getByRole('status').textContent()).to.equal('Nothing found for “xyzzyplugh”')
      await page.keyboard.press('Escape')
      expect(await page.getByRole('dialog').count()).to.equal(0)
    })

    it('works on a page that is a file', async () => {
      await using files = await write(site)
      const messages: string[] = []
      page.on('console', message => messages.push(message.text()))
      await page.goto(pathToFileURL(`${files.folder}/api/zkwire/connect.html`).href)
      await page.keyboard.press('/')
      await searchFor('supervise')
      await page.keyboard.press('ArrowDown')
      await Promise.all([page.waitForURL(/^file:.*supervise\.html/), page.keyboard.press('Enter')])
      expect(messages).to.deep.equal([])
    })
  })

  it('has the search on the page of the playground too, which loads only the files of the site', async () => {
    const page = await browser.newPage()
    const messages: string[] = []
    page.on('console', message => messages.push(message.text()))
    await page.goto(`${server.address}playground.html#lesson=herd.1`)
    await page.locator('.lesson').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('fencing')
    await page.getByRole('list', { name: 'Results' }).getByRole('link').first().waitFor()
    expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').count()).to.equal(3)
    expect(messages).to.deep.equal([])
    await page.close()
  })

  it('shows every guide and its menu without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${server.address}${guides[0]?.name ?? ''}.html`)
    await page.getByText('All pages').click()
    expect(
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: 'Locks', exact: true })
        .isVisible(),
    ).to.equal(true)
    expect(await page.getByRole('button', { name: 'Search' }).count()).to.equal(0)
    await context.close()
  })
})
