// A lesson that a reader saves as slides.
import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startChromium } from '../../../environment/chromium.ts'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { LESSONS } from '../../../site/lessons/index.ts'
import { choicesOf } from '../../../site/lessons/lesson.ts'
import { openPlayground } from '../support/open-playground.ts'

describe('a lesson as slides', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  /** Saves the slides of a lesson, and opens them as a page. */
  async function openSlides(id: string, colorScheme: 'light' | 'dark'): Promise<{ page: Page; html: string }> {
    const open = await openPlayground(browser, `lesson=${id}`, { colorScheme })
    const download = open.page.waitForEvent('download')
    await open.press('Save it as slides')
    const file = await download
    expect(file.suggestedFilename()).to.equal(`${id}-slides.html`)
    const path = await file.path()
    const html = await readFile(path, 'utf8')
    await open.until("document.querySelector('.sheet .stage') === null")
    expect(open.messages).to.deep.equal([])
    // Slides are shown where the reader of the page may have chosen other colours.
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: 'light' })
    // The browser names what it has saved without an ending.
    await page.route('**/slides.html', route => route.fulfill({ body: html, contentType: 'text/html' }))
    await page.goto(pathToFileURL(path).href.replace(/[^/]*$/, 'slides.html'))
    await open.close()
    return { page, html }
  }

  const pictures = 'document.querySelectorAll(".slides > ol:first-of-type > li > img")'

  for (const [id, colorScheme] of [
    ['herd', 'light'],
    ['history', 'dark'],
  ] as const)
    it(`has the stage, the text and the question of each step, and needs no other file: ${id}, ${colorScheme}`, async () => {
      const { page, html } = await openSlides(id, colorScheme)
      const { steps } = LESSONS.find(lesson => lesson.id === id) ?? expect.fail()
      const shown = await page.evaluate<{ name: string; svg: string; width: number; text: string; height: number }[]>(
        `[...${pictures}].map(img => ({
          name: img.alt, svg: decodeURIComponent(img.src), width: img.naturalWidth,
          text: img.parentElement.innerText, height: img.parentElement.offsetHeight }))`,
      )
      expect(shown).to.have.length(steps.length)
      for (const [i, { text, question }] of steps.entries()) {
        const slide = shown[i] ?? expect.fail()
        for (const part of [text, ...(question ? [question.text, ...choicesOf(question)] : [])])
          expect(slide.text).to.contain(part.replaceAll('`', ''))
        expect([slide.width, slide.height], `step ${i + 1}`).to.deep.equal([960, 720])
        // It is the stage of this step, as the page itself shows it.
        const open = await openPlayground(browser, `lesson=${id}.${i + 1}`)
        const stage = await open.evaluate<string>("document.querySelector('.theatre .stage > .hidden').textContent")
        const tokens = await open.evaluate<number>("document.querySelectorAll('.theatre .token').length")
        expect(slide.name).to.match(/^\d+\.\d{3} s: /)
        expect(slide.name).to.contain(stage)
        for (let client = 1; client <= tokens; client++) expect(slide.svg).to.contain(`>${client}</text>`)
        await open.close()
      }
      expect(html.replaceAll('xmlns="http://www.w3.org/2000/svg"', '')).not.to.match(/(src|href)="(?!data:)/)
      expect(await invalidHtml(html.replace(/<style>.*?<\/style>/s, ''))).to.deep.equal([])
      expect(await axeViolations(page)).to.deep.equal([])
      const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      expect(shown[0]?.svg).to.contain(`fill="${paper}"/>`)
      expect(paper === 'rgb(253, 252, 249)').to.equal(colorScheme === 'light')
      // A page of paper for each slide, and one or two for the answers and the words.
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
      expect(pdf.match(/\/Type \/Page\b/g)?.length).to.be.within(steps.length + 1, steps.length + 2)
      await page.close()
    })
})
