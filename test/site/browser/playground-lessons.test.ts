// The lessons, played to their ends in the page.
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { LESSONS } from '../../../site/lessons/index.ts'
import { answerOf, choicesOf } from '../../../site/lessons/lesson.ts'
import { along, distance, layoutOf, linkBetween, type Point } from '../../../site/playground/scene/layout.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { EXERCISES } from '../../../site/lab/exercises.ts'
import { builtPlayground, openPlayground, type OpenPlayground } from '../support/open-playground.ts'

describe('in the page, the lesson', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  for (const { id, title, steps } of LESSONS)
    it(`“${title}” can be played to its end, and shows each question before its answer`, async () => {
      const open = await openPlayground(browser)
      const card = open.page.locator('.lesson')
      await open.press(title)
      for (const [i, { question, focus }] of steps.entries()) {
        await open.page.waitForSelector(`.lesson[data-step="${i + 1}"]`)
        expect(await open.evaluate('location.hash')).to.equal(`#lesson=${id}.${i + 1}`)
        if (focus !== undefined && question === undefined)
          expect(await open.evaluate('playground.selection !== undefined')).to.equal(true)
        if (question !== undefined) {
          expect(await card.textContent()).not.to.contain(question.explanation.replaceAll('`', ''))
          await card.locator('.choice').nth(answerOf(question)).click()
          await hasten(open.page)
          await open.idle()
          expect(await card.textContent()).to.contain(question.explanation.replaceAll('`', ''))
          expect(await card.locator('.choice.right').count()).to.equal(1)
        }
        if (i === steps.length - 1) break
        await card.getByRole('button', { name: 'Next', exact: true }).click()
        await hasten(open.page)
        await open.idle()
      }
      expect(await open.evaluate('playground.lessons.shown.isOver')).to.equal(true)
      expect(await open.page.getByRole('alert').count()).to.equal(0)
      expect(open.messages).to.deep.equal([])
      await open.close()
    })

  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])
    it(`shows all nodes in the box of one server, in a window of ${viewport.width} pixels`, async () => {
      const open = await openPlayground(browser, '', { viewport })
      for (const [id, nodes] of Object.entries({ 'one-trip.1': 7, 'double-barrier.2': 5, 'tickets.1': 14 })) {
        await open.evaluate(`void (location.hash = '#lesson=${id}')`)
        await open.until(`document.querySelectorAll('main > .work .node').length === ${nodes}`)
        await open.until(
          "(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.querySelector('main > .work .tree'))",
        )
      }
      await open.close()
    })

  for (const width of [1440, 390])
    it(`draws a line between each two servers, but none to one that is stopped, in a window of ${width} pixels`, async () => {
      for (const [link, lines] of [
        ['lesson=election', ['1 2', '1 3', '2 3']],
        ['lesson=election.6', ['1 3']],
        ['lesson=observer', ['1 2', '1 3', '1 4', '2 3', '2 4', '3 4']],
      ] as const) {
        const open = await openPlayground(browser, link, { viewport: { width, height: 900 } })
        expect(await open.evaluate("playground.picture.servers[1].mode === 'stopped'")).to.equal(lines.length === 1)
        const links = await linksIn(open)
        await open.until(`${links}.join() === '${lines.join()}'`)
        await open.close()
      }
    })

  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])
    it(`shows the observer as one without a vote, and each message to it on its way, in a window of ${viewport.width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=observer', { viewport, bypassCSP: true })
      const names = async () =>
        (await open.page.locator('.server-name').allTextContents()).map(text => text.replace(/zxid.*/, ''))
      expect(await names()).to.deep.equal([
        ...['server 1 follower', 'server 2 follower', 'server 3 leader', 'server 4 observer, no vote'],
      ])
      expect(await axeViolations(open.page)).to.deep.equal([])
      expect(await open.evaluate('document.documentElement.scrollWidth')).to.be.at.most(viewport.width)
      await open.evaluate("void (location.hash = '#lesson=observer.2')")
      await open.page.waitForSelector('.lesson[data-step="2"]')
      await open.evaluate(PAINTED)
      await answer(open.page)
      await open.idle()
      expect(await open.evaluate('painted')).to.include.members(['ack 1 3', 'ack 2 3', 'inform 3 4'])
      await open.page.getByRole('button', { name: /^server 4 observer/ }).click()
      await open.idle()
      const details = open.page.locator('.inspector')
      expect(await details.locator('h3').innerText()).to.match(/^server 4: observer, no vote, 1 node,/)
      await details.getByRole('button', { name: 'inform 23' }).click()
      await open.idle()
      expect(await details.innerText()).to.match(
        /Server 3 tells server 4, an observer, to apply transaction 0x100000003/,
      )
      expect(await axeViolations(open.page)).to.deep.equal([])
      await open.press('All lessons')
      for (const [title, link, last] of [
        ['one', /^1;bare-clients;2;1;/, 'server 1 standalone'],
        ['three and an observer', /^1;bare-clients;2;3\.1;/, 'server 4 observer, no vote'],
      ] as const) {
        await open.page.getByRole('combobox', { name: 'Servers' }).selectOption(title)
        await open.idle()
        expect(await open.evaluate('playground.link')).to.match(link)
        expect((await names()).at(-1)).to.equal(last)
      }
      expect(open.messages).to.deep.equal([])
      await open.close()
    })

  it('is marked in the list when it is finished, also at the next visit', async () => {
    const open = await openPlayground(browser, 'lesson=handshake-and-ping')
    const { steps, title } = LESSONS[0] ?? expect.fail()
    const marks = () => open.page.locator('.lessons li', { hasText: 'finished' }).allInnerTexts()
    for (const { question } of steps) {
      if (question !== undefined) await answer(open.page)
      await hasten(open.page)
      await open.idle()
      if (!(await open.evaluate('playground.lessons.shown.isOver'))) await open.press('Next')
      await hasten(open.page)
      await open.idle()
    }
    await open.press('All lessons')
    expect(await marks()).to.have.length(1)
    expect((await marks())[0]).to.match(new RegExp(`^${title} ✓ finished`))
    await open.evaluate("void (location.hash = '')")
    await open.page.reload()
    await open.page.waitForSelector('.lessons .finished', { state: 'attached' })
    expect(await open.page.locator('.lessons summary').innerText()).to.match(/, 1 finished$/)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('can be played where the browser keeps nothing', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('denied') } })",
    )
    await page.setContent(await builtPlayground())
    await page.waitForSelector('.lessons .link')
    const last = LESSONS.at(-1) ?? expect.fail()
    await page.evaluate(`playground.openLink('lesson=${last.id}.${last.steps.length}')`)
    await page.waitForSelector('.lesson')
    await answer(page)
    await hasten(page)
    await page.waitForSelector('.choice.right')
    expect(await page.evaluate('[...playground.lessons.finished]')).to.deep.equal([last.id])
    await context.close()
  })

  for (const width of [1440, 390])
    it(`says that it was the last one, and leads on to the exercises, in a window of ${width} pixels`, async () => {
      const last = LESSONS.at(-1) ?? expect.fail()
      const open = await openPlayground(browser, `lesson=${last.id}.${last.steps.length}`, {
        viewport: { width, height: 844 },
      })
      await answer(open.page)
      await hasten(open.page)
      await open.idle()
      expect(await open.page.locator('.lesson').innerText()).to.contain('That was the last lesson.')
      await open.press('Exercises')
      expect(await open.evaluate('playground.editor.exercise.id')).to.equal(EXERCISES[0]?.id)
      await open.until("document.activeElement.closest('.editor') !== null")
      await still(open.page)
      expect(await open.evaluate("document.querySelector('.editor').getBoundingClientRect().top")).to.be.within(-1, 500)
      await open.close()
    })

  for (const width of [1440, 390])
    it(`draws the store that its writes are sent to, in a window of ${width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=late-write', { viewport: { width, height: 900 } })
      const store = open.page.locator('.store')
      expect(await store.innerText()).to.match(/greatest token: none yet$/)
      await answer(open.page)
      await hasten(open.page)
      await open.idle()
      const { token, writes } = await open.evaluate<{ token: string; writes: { token: string }[] }>(
        'playground.picture.store',
      )
      expect(await store.locator('li').allInnerTexts()).to.deep.equal([
        ...[`client 1: token ${writes[0]?.token} ✓`, `client 2: token ${token} ✓`],
      ])
      await open.evaluate("void (location.hash = '#lesson=stalled-holder.4')")
      await open.until(
        "(({ scrollHeight, clientHeight, innerText }) => /refused/.test(innerText) && scrollHeight <= clientHeight)(document.querySelector('.store'))",
      )
      await open.close()
    })

  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])
    it(`draws a history, and the order that proves it or the operation without a place only after the answer, in a window of ${viewport.width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=history', { viewport, bypassCSP: true })
      const { page } = open
      const drawn = async () => ({
        letters: await page.locator('.history .moment text').allTextContents(),
        misfits: await page.locator('.history .misfit text').allTextContents(),
        said: await page.locator('.history .judged').allTextContents(),
      })
      const { steps } = LESSONS.find(({ id }) => id === 'history') ?? expect.fail()
      const seen: string[] = []
      for (const [i, { question }] of steps.entries()) {
        await page.waitForSelector(`.lesson[data-step="${i + 1}"] .history`)
        expect(await drawn()).to.deep.equal({ letters: [], misfits: [], said: [] })
        // By keyboard.
        await page
          .locator('.choice')
          .nth(answerOf(question ?? expect.fail()))
          .press('Enter')
        await hasten(page)
        await open.idle()
        await still(page)
        const { letters, misfits, said } = await drawn()
        seen.push([...letters, ...misfits].join(''))
        expect(said.join()).to.match(misfits.length === 0 ? /^Legal: / : /^Not legal: /)
        const top = await open.evaluate("document.querySelector('.history').getBoundingClientRect().top")
        expect(Number(top), `step ${i + 1}`).to.be.within(0, viewport.height / 2 + 1)
        expect(await axeViolations(page)).to.deep.equal([])
        expect(await open.evaluate('document.documentElement.scrollWidth')).to.be.at.most(viewport.width)
        if (i < steps.length - 1) await page.getByRole('button', { name: 'Next', exact: true }).press('Enter')
        await hasten(page)
        await open.idle()
      }
      expect(seen).to.deep.equal(['ACB', 'C ✗', 'ABC', 'ACB', 'B ✗', 'ABDC'])
      expect(open.messages).to.deep.equal([])
      await open.close()
    })

  it('says what its star means', async () => {
    for (const [id, meaning] of Object.entries({ herd: 'has the lock', 'double-barrier': 'is inside' })) {
      const open = await openPlayground(browser, `lesson=${id}`)
      expect(await open.page.locator('.legend li').allInnerTexts()).to.include(meaning)
      await open.close()
    }
  })

  it('draws no store where none is written to', async () => {
    const open = await openPlayground(browser, 'lesson=list-after-the-wake-up')
    expect(await open.page.locator('.store').count()).to.equal(0)
    await open.close()
  })

  for (const width of [1440, 390])
    it(`shows the counters that it speaks of, in a window of ${width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=herd.2', { viewport: { width, height: 900 } })
      const { frames, bytes } = await open.evaluate<{ frames: number; bytes: number }>(
        'playground.picture.counters.thisRelease',
      )
      expect(await open.page.locator('.counted').innerText()).to.equal(
        `This release: ${frames} frames, 11 notifications, ${bytes.toLocaleString('en')} bytes`,
      )
      const seen = width > 1000 ? '.counted, .counters, .theatre .legend' : '.counted'
      const bottoms = await open.evaluate<number[]>(
        `[...document.querySelectorAll('${seen}')].map(each => each.getBoundingClientRect().bottom)`,
      )
      expect(Math.max(...bottoms)).to.be.within(1, 900)
      await open.close()
    })

  it('is in the first view of a phone, and two more', async () => {
    const open = await openPlayground(browser, '', { viewport: { width: 390, height: 844 } })
    const bottom = await open.evaluate("document.querySelectorAll('.lessons .link')[2].getBoundingClientRect().bottom")
    expect(bottom).to.be.within(1, 600)
    await open.close()
  })

  it('can be sent from the step that is shown', async () => {
    const open = await openPlayground(browser, 'lesson=chain.2', { permissions: ['clipboard-read', 'clipboard-write'] })
    expect(await open.page.locator('.lesson').getAttribute('data-step')).to.equal('2')
    await open.press('Copy link')
    expect(await open.evaluate('location.hash')).to.equal('#lesson=chain.2')
    expect(await open.evaluate('navigator.clipboard.readText()')).to.match(/#lesson=chain\.2$/)
    await open.evaluate("void (location.hash = '#lesson=chain')")
    await open.page.waitForSelector('.lesson[data-step="1"]')
    await open.close()
  })

  it('goes on where it was, although the reader has gone elsewhere meanwhile', async () => {
    const open = await openPlayground(browser, 'lesson=herd')
    const frames = await open.evaluate('playground.frames.length')
    await open.press('to the beginning')
    expect(await open.evaluate('playground.frames.length')).to.equal(0)
    await answer(open.page)
    await hasten(open.page)
    await open.idle()
    expect(await open.evaluate('playground.frames.length')).to.be.above(Number(frames))
    expect(await open.page.getByRole('alert').count()).to.equal(0)
    await open.close()
  })

  for (const viewport of [
    { width: 360, height: 740 },
    { width: 820, height: 1100 },
  ])
    it(`shows the stage while a step is played, and then its text, in a window of ${viewport.width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=herd', { viewport })
      const seen = (
        selector: string,
      ) => `((box) => box.bottom > 0.8 * Math.min(box.height, innerHeight) && box.top < 0.2 * innerHeight
        && box.bottom - box.top > 0)(document.querySelector('${selector}').getBoundingClientRect())`
      await open.page.locator('.choice', { hasText: 'Eleven' }).click()
      await open.until(`playground.lessons.shown.isPlaying && ${seen('.stage')}`)
      // The question, and what the reader has said, stay in view above it.
      await open.until(`Math.abs(document.querySelector('.asked').getBoundingClientRect().top) < 2`)
      expect(await open.page.locator('.asked').innerText()).to.match(/How many clients.*Your answer: Eleven/s)
      await hasten(open.page)
      await open.idle()
      await open.until(seen('.question'))
      await open.until("document.querySelector('.explanation').getBoundingClientRect().bottom < innerHeight")
      expect(open.messages).to.deep.equal([])
      await open.close()
    })

  it('on a phone, shows the text of each step after “Next”, also if nothing is played', async () => {
    const open = await openPlayground(browser, 'lesson=herd', { viewport: { width: 390, height: 844 } })
    const { page } = open
    for (const { id, steps } of LESSONS) {
      const step = steps.findIndex(({ play, question }, i) => i > 0 && question !== undefined && play.length === 0) + 1
      if (step === 0) continue
      await open.evaluate(`void (location.hash = '#lesson=${id}.${step - 1}')`)
      await page.waitForSelector(`.lesson[data-lesson="${id}"][data-step="${step - 1}"]`)
      if (steps[step - 2]?.question !== undefined) {
        await answer(page)
        await hasten(page)
        await open.idle()
      }
      await still(page)
      await page.getByRole('button', { name: 'Next', exact: true }).click()
      await page.waitForSelector(`.lesson[data-step="${step}"]`)
      await open.idle()
      await still(page)
      const top = await open.evaluate("document.querySelector('.question').getBoundingClientRect().top")
      expect(Number(top), `${id}.${step}`).to.be.within(0, 844)
    }
    await open.close()
  })

  for (const viewport of [
    { width: 1280, height: 960 },
    { width: 390, height: 844 },
  ])
    it(`has each button at a place of its own, the same in each step, in a window of ${viewport.width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=chain', { viewport })
      const places: number[][][] = []
      const look = async () =>
        places.push(
          await open.evaluate(`((card, buttons) => buttons.map(each => each.getBoundingClientRect()).map(
            ({ left, right, top }) => [left, right, top - (innerWidth < 561 ? 0 : card.getBoundingClientRect().top)]))(
              document.querySelector('.lesson'), [...document.querySelectorAll('.lesson .buttons button')])`),
        )
      const { steps } = LESSONS.find(({ id }) => id === 'chain') ?? expect.fail()
      for (const [i] of steps.entries()) {
        await look()
        await answer(open.page)
        await open.until('playground.lessons.shown.isPlaying || playground.lessons.shown.question.answer !== undefined')
        await look()
        await hasten(open.page)
        await open.idle()
        await look()
        if (i < steps.length - 1) await open.press('Next')
        await hasten(open.page)
        await open.idle()
      }
      expect([...new Set(places.map(String))]).to.have.lengthOf(1)
      const [first = [], second = [], third = []] = places[0] ?? []
      expect([first[1], second[1]]).to.satisfy(([one = 0, two = 0]) => one < (second[0] ?? 0) && two < (third[0] ?? 0))
      await open.close()
    })

  for (const { link, plays } of [
    { link: 'lesson=herd', plays: true },
    { link: 'lesson=cut-off-follower', plays: true },
    { link: 'lesson=order-of-answers.2', plays: false },
  ])
    it(`on a phone, has its buttons above all else, wherever the window is scrolled to: ${link}`, async () => {
      const open = await openPlayground(browser, link, { viewport: { width: 390, height: 844 } })
      expect(await open.evaluate(COVERED)).to.deep.equal([])
      await answer(open.page)
      if (plays) {
        await open.until('playground.lessons.shown.isPlaying')
        expect(await open.evaluate(`[playground.lessons.shown.isPlaying, ...${COVERED}]`)).to.deep.equal([true])
        await hasten(open.page)
      }
      await open.idle()
      expect(await open.evaluate(COVERED)).to.deep.equal([])
      await open.close()
    })

  it('on a phone, is in view when it is chosen in the list, and the list when the lesson is left', async () => {
    const open = await openPlayground(browser, '', { viewport: { width: 390, height: 844 } })
    const topOf = (selector: string) =>
      open.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().top`)
    for (const { id, title } of [LESSONS[0], LESSONS.at(-1)].filter(lesson => lesson !== undefined)) {
      await open.press(title)
      await still(open.page)
      expect(await topOf('.lesson .title-row'), id).to.be.within(-1, 160)
      expect(await open.evaluate('document.activeElement.id')).to.equal('lesson-title')
      await open.press('All lessons')
      await still(open.page)
      expect(await topOf('.lessons'), id).to.be.within(-1, 422)
      expect(await open.evaluate('document.activeElement.tagName')).to.equal('SUMMARY')
    }
    await open.close()
  })

  it('on a phone, begins in the upper part of the window', async () => {
    const open = await openPlayground(browser, 'lesson=herd', { viewport: { width: 390, height: 844 } })
    expect(await open.evaluate("document.querySelector('.lesson').getBoundingClientRect().top")).to.be.below(80)
    await open.close()
  })

  it('prints all texts, questions and answers, and the stage, but no buttons to press', async () => {
    const open = await openPlayground(browser, 'lesson=herd', { viewport: { width: 1440, height: 900 } })
    await open.page.emulateMedia({ media: 'print' })
    const sheet = await open.page.locator('.sheet').innerText()
    for (const { text, question } of LESSONS.find(({ id }) => id === 'herd')?.steps ?? [])
      for (const part of [text, ...(question ? [question.text, ...choicesOf(question), question.explanation] : [])])
        expect(sheet).to.contain(part.replaceAll('`', ''))
    const visible = await open.evaluate<string[]>(
      "[...document.querySelectorAll('main :is(button, select, input)')].filter(each => each.checkVisibility() && !each.closest('.stage')).map(each => each.textContent)",
    )
    expect(visible).to.deep.equal([])
    await open.evaluate("void dispatchEvent(new Event('beforeprint'))")
    expect(await open.evaluate("document.querySelector('.stage').getBoundingClientRect().width")).to.be.within(300, 690)
    await open.evaluate("void dispatchEvent(new Event('afterprint'))")
    expect(await open.evaluate("document.querySelector('.stage').style.zoom")).to.equal('')
    await open.close()
  })

  it('prints a page for each step, with its stage, and one of answers', async () => {
    const open = await openPlayground(browser, 'lesson=herd.2', { viewport: { width: 1440, height: 900 } })
    await open.evaluate('void (window.print = () => (window.isPrinted = true))')
    await open.press('Print this lesson')
    await open.until('window.isPrinted === true')
    const { steps } = LESSONS.find(({ id }) => id === 'herd') ?? expect.fail()
    const stages = await open.evaluate<string[]>(
      "[...document.querySelectorAll('.sheet .stage')].map(each => each.innerText)",
    )
    expect(stages).to.have.length(steps.length)
    // Each is the stage of its step: the second one is that of another moment.
    expect(new Set(stages).size).to.equal(steps.length)
    const widths = () =>
      open.evaluate<number[]>("[...document.querySelectorAll('.sheet .stage')].map(({ clientWidth }) => clientWidth)")
    const onScreen = await widths()
    await open.page.emulateMedia({ media: 'print' })
    // The canvas is painted for the screen, and the clients beside it must stand where they were.
    expect(await widths()).to.deep.equal(onScreen)
    const boxes =
      "[...document.querySelectorAll('.sheet li')].filter(li => getComputedStyle(li, '::before').content !== 'none')"
    const choices = steps.flatMap(({ question }) => (question === undefined ? [] : choicesOf(question)))
    expect(await open.evaluate(`${boxes}.map(li => li.innerText)`)).to.deep.equal(choices)
    await open.page.emulateMedia({ media: null })
    const pdf = (await open.page.pdf({ format: 'A4', margin: PAPER })).toString('latin1')
    expect(pdf.match(/\/Type \/Page\b/g)).to.have.length(steps.length + 1)
    await open.evaluate("void dispatchEvent(new Event('afterprint'))")
    await open.until("document.querySelector('.sheet .stage') === null")
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('fills a full screen with the stage and the lesson', async () => {
    const open = await openPlayground(browser, 'lesson=herd', { viewport: { width: 1440, height: 900 } })
    await open.press('full screen')
    await open.until("document.fullscreenElement !== null && document.querySelector('.stage').clientHeight > 690")
    expect(await open.page.locator('.setup').isVisible()).to.equal(false)
    expect(await open.page.locator('.lesson').isVisible()).to.equal(true)
    await open.press('full screen')
    await open.until('document.fullscreenElement === null')
    await open.close()
  })

  it('tells the meaning of a word where it occurs first', async () => {
    const open = await openPlayground(browser, 'lesson=order-of-answers')
    const word = open.page.locator('.lesson').getByRole('button', { name: 'xid', exact: true })
    expect(await word.count()).to.equal(0)
    await answer(open.page)
    await hasten(open.page)
    await open.idle()
    const meaning = 'the number of a request on a connection'
    expect(await open.page.locator('.lesson').textContent()).not.to.contain(meaning)
    await word.focus()
    await open.page.keyboard.press('Enter')
    await open.idle()
    expect(await word.getAttribute('aria-expanded')).to.equal('true')
    expect(await open.page.locator('.lesson').textContent()).to.contain(`xid (${meaning})`)
    await open.press('Next')
    expect(await open.page.locator('.meaning').count()).to.equal(0)
    await open.close()
  })

  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const)
    it(`passes axe and is valid HTML with a client that only believes, and an open word, at ${width} pixels`, async () => {
      const open = await openPlayground(browser, 'lesson=stalled-holder.2', {
        ...{ viewport: { width, height: 844 }, colorScheme, bypassCSP: true },
      })
      expect(await open.page.locator('.belief').count()).to.equal(1)
      await open.page.locator('.lesson .term').first().click()
      expect(await open.page.locator('.lesson .meaning').count()).to.equal(1)
      expect(await axeViolations(open.page)).to.deep.equal([])
      expect(await open.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
      const drawn = await open.evaluate<string>(
        'document.body.innerHTML.replaceAll(/<(script|style).*?<\\/\\1>/gs, "")',
      )
      expect(await invalidHtml(drawn)).to.deep.equal([])
      await open.close()
    })

  it('says why a choice is wrong, not only by colour, and lets the reader choose again', async () => {
    const open = await openPlayground(browser, 'lesson=herd')
    const [first] = LESSONS.find(({ id }) => id === 'herd')?.steps ?? []
    const frames = await open.evaluate('playground.frames.length')
    for (const wrong of [0, 1]) {
      await open.page.locator('.choice').nth(wrong).focus()
      await open.page.keyboard.press('Enter')
      await open.idle()
      const [, why] = first?.question?.choices[wrong] ?? []
      expect(await open.page.locator('.explanation').textContent()).to.equal(`Not quite. ${why} Try again.`)
      expect(await open.page.locator('.choice').nth(wrong).textContent()).to.match(/^✗.*, wrong$/)
      // The focus of the keyboard stays where it was.
      expect(await open.evaluate(`document.activeElement === document.querySelectorAll('.choice')[${wrong}]`)).to.equal(
        true,
      )
    }
    expect(await open.page.locator('.choice.right').count()).to.equal(0)
    expect(await open.evaluate('playground.frames.length')).to.equal(frames)
    await open.page.locator('.choice', { hasText: 'Eleven' }).click()
    await hasten(open.page)
    await open.idle()
    expect(await open.page.locator('.explanation').textContent()).to.match(/^Right\. /)
    expect(await open.page.locator('.choice.wrong').count()).to.equal(2)
    expect(await open.page.locator('.choice', { hasText: 'Eleven' }).textContent()).to.match(/^✓.*, right$/)
    await open.close()
  })
})

const PAPER = { top: '15mm', bottom: '15mm', left: '15mm', right: '15mm' }

/** Waits until the window has not scrolled for ten drawings. */
const still = (page: Page) =>
  page.evaluate(`new Promise(resolve => {
    let [last, drawings] = [NaN, 0]
    const look = () => {
      drawings = scrollY === last ? drawings + 1 : 0
      last = scrollY
      if (drawings === 10) resolve()
      else requestAnimationFrame(look)
    }
    look()
  })`)

/** The buttons of a lesson that something lies over, with how far the window was scrolled then. */
const COVERED = `(() => {
  const covered = []
  for (let top = 0; top < document.documentElement.scrollHeight; top += 30) {
    scrollTo({ top, behavior: 'instant' })
    for (const button of document.querySelectorAll('.lesson .buttons button')) {
      const { x, y, width, height } = button.getBoundingClientRect()
      const seen = document.elementFromPoint(x + width / 2, y + height / 2)
      if (!button.contains(seen)) covered.push(button.textContent + ' at ' + top + ': ' + seen?.className)
    }
  }
  return covered
})()`

/** Returns an expression for the pairs of servers with a line: at a quarter of its way, something is painted. */
async function linksIn({ evaluate }: OpenPlayground): Promise<string> {
  const { width, height, clients, servers } = await evaluate<
    Record<'width' | 'height' | 'clients' | 'servers', number>
  >(
    `(({ clientWidth: width, clientHeight: height }, { story, servers }) => (
      { width, height, clients: story.scenario.clients, servers: servers.length }))(
      document.querySelector('.stage'), playground.picture)`,
  )
  const layout = layoutOf(width, height, clients, servers)
  const ids = layout.servers.map((_, i) => i + 1)
  const points = ids.flatMap(one =>
    ids.slice(one).map(other => {
      const [from, to] = linkBetween(layout, one, other) as [Point, Point]
      return { ends: `${one} ${other}`, ...along(from, to, distance(from, to) / 4) }
    }),
  )
  return `${JSON.stringify(points)}.filter(({ x, y }) => [...document.querySelector('.stage canvas')
    .getContext('2d').getImageData(x - 5, y - 5, 10, 10).data].some(Boolean)).map(({ ends }) => ends)`
}

/** Notes in `painted` which messages between servers are painted from now on. */
const PAINTED = `(() => {
  window.painted = []
  document.querySelector('.stage .flights').addEventListener('painted', ({ detail }) => {
    for (const { message, x, y } of detail)
      if (message !== undefined && Number.isFinite(x + y)) painted.push(message.kind + ' ' + message.from + ' ' + message.to)
  })
})()`

/** Chooses what is right. */
async function answer(page: Page): Promise<void> {
  const { id, step } = await page.evaluate<{ id: string; step: number }>('playground.lessons.shown')
  const { question } = LESSONS.find(lesson => lesson.id === id)?.steps[step - 1] ?? {}
  await page
    .locator('.choice')
    .nth(answerOf(question ?? expect.fail()))
    .click()
}

/** Shows at once what the lesson plays. */
const hasten = (page: { evaluate: (expression: string) => Promise<unknown> }) =>
  page.evaluate('new Promise(begun => setTimeout(begun)).then(() => playground.lessons.hasten())')
