// The playground without a mouse, and with reduced motion.
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { startChromium } from '../../../environment/chromium.ts'
import { openPlayground, type OpenPlayground } from '../support/open-playground.ts'

/** More presses of Tab than there are places to stop. */
const MOST_TABS = 120
const FRAMES = 'playground.frames.length'

describe('the playground by keyboard', () => {
  let browser: Browser
  let open: OpenPlayground
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())
  beforeEach(async () => void (open = await openPlayground(browser)))
  afterEach(async () => {
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  const press = async (...keys: string[]) => {
    for (const key of keys) await open.page.keyboard.press(key)
    await open.idle()
  }
  /** Presses Tab until the focus is on an element that matches. */
  const tabTo = async (selector: string) => {
    for (let i = 0; i < MOST_TABS; i++) {
      if (await open.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
      await open.page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not lead to ${selector}`)
  }

  it('plays and pauses with Space, and goes back and forward with the arrows', async () => {
    const frames = await open.evaluate<number>(FRAMES)
    await press('ArrowRight')
    expect(await open.evaluate(FRAMES)).to.equal(frames + 1)
    expect(await open.page.getByRole('status').last().textContent()).to.match(new RegExp(`^Frame ${frames + 1}: `))
    await press('ArrowLeft', 'ArrowLeft')
    expect(await open.evaluate(FRAMES)).to.equal(frames - 1)
    await open.page.keyboard.press('Space')
    expect(await open.evaluate('playground.playing')).to.equal(true)
    await open.page.keyboard.press('Space')
    expect(await open.evaluate('playground.playing')).to.equal(false)
  })

  it('goes back and forward with the arrows also after a press of a button', async () => {
    await open.press('one frame forward')
    const frames = await open.evaluate<number>(FRAMES)
    await press('ArrowRight', 'ArrowRight')
    expect(await open.evaluate(FRAMES)).to.equal(frames + 2)
    await press('ArrowLeft')
    expect(await open.evaluate(FRAMES)).to.equal(frames + 1)
  })

  it('leads to a client, to the next one, and to what can be done to it', async () => {
    await tabTo('.token')
    await press('ArrowRight', 'ArrowRight')
    const client = await open.evaluate<string>('document.activeElement.dataset.client')
    expect(await open.page.locator('.inspector h3').textContent()).to.contain(`client ${client}:`)
    await tabTo('[data-command="kill"]')
    await press('Enter')
    expect(await open.page.locator(`[data-client="${client}"]`).getAttribute('data-look')).to.equal('dead')
  })

  it('leads with Tab to Play, and through the whole page, in as few stops with 60 clients on 3 servers as with 4', async () => {
    const stops = async (clients: number) => {
      await open.evaluate(`playground.start({ recipe: 'herd-mutex', clients: ${clients}, servers: 3, seed: 7 })`)
      await open.evaluate('playground.settle()')
      await open.evaluate("playground.select({ kind: 'server', server: 1 })")
      await open.idle()
      await open.evaluate('void document.activeElement.blur()')
      let [all, toPlay] = [0, 0]
      do {
        await open.page.keyboard.press('Tab')
        all++
        if (await open.evaluate(`document.activeElement.matches('.transport .main')`)) toPlay = all
      } while (await open.evaluate('document.activeElement !== document.body'))
      return { all, toPlay }
    }
    const few = await stops(4)
    expect(few.toPlay).to.be.within(1, 39)
    expect(await stops(60)).to.deep.equal(few)
  })

  it('goes from node to node with the arrows, Home and End, and sends no frame meanwhile', async () => {
    const nodes = await open.evaluate<string[]>(
      `[...document.querySelectorAll('.node')].map(({ dataset }) => dataset.path)`,
    )
    const frames = await open.evaluate(FRAMES)
    const focused = () => open.evaluate('document.activeElement.dataset.path')
    await tabTo('.node')
    for (const [key, index] of Object.entries({ ArrowRight: 1, ArrowDown: 2, ArrowLeft: 1, End: -1, Home: 0 })) {
      await press(key)
      expect(await focused(), key).to.equal(nodes.at(index))
      expect(await open.evaluate('playground.selection.path'), key).to.equal(nodes.at(index))
    }
    await press('ArrowUp')
    expect(await focused()).to.equal(nodes.at(-1))
    expect(await open.evaluate(FRAMES)).to.equal(frames)
  })

  it('leads to a node and its Stat, and to the frames in the lanes', async () => {
    await tabTo('.node')
    await press('Enter')
    expect(await open.page.locator('.inspector').textContent()).to.match(/czxid/)
    await tabTo('.lanes-scroll')
    await press('ArrowLeft')
    const n = await open.evaluate<number>('playground.selection.n')
    expect(await open.page.locator('.inspector h3').textContent()).to.contain(`Frame ${n}`)
    await press('ArrowLeft')
    expect(await open.evaluate('playground.selection.n')).to.equal(n - 1)
    expect(await open.page.locator('.inspector .fields').textContent()).to.contain('xid')
  })

  it('leads through a lesson', async () => {
    await tabTo('.lessons .link')
    await press('Enter')
    // The focus moves after the drawing.
    await open.until('document.activeElement.id === "lesson-title"')
    for (let i = 0; i < 20 && !(await open.evaluate('playground.lessons.shown.isOver')); i++) {
      await tabTo('.lesson .choice:not(:disabled, [aria-disabled="true"]), .lesson .main')
      await open.page.keyboard.press('Enter')
      await open.page.waitForTimeout(0)
      await open.evaluate('playground.lessons.hasten()')
      await open.idle()
    }
    expect(await open.evaluate('playground.lessons.shown.isOver')).to.equal(true)
  })

  it('chooses another recipe and another number of clients', async () => {
    await tabTo('select')
    await press('End')
    await tabTo('input[type="range"]')
    await press('ArrowLeft')
    expect(await open.evaluate('playground.story.scenario')).to.deep.include({ recipe: 'bare-clients', clients: 11 })
  })
})

describe('the playground with reduced motion', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  it('shows a frame at a time, and lets none move', async () => {
    const open = await openPlayground(browser, '', { reducedMotion: 'reduce' })
    await open.evaluate(`(() => {
      window.places = new Map()
      document.querySelector('.stage .flights').addEventListener('painted', ({ detail }) => {
        for (const { n, x, y, kind } of detail)
          if (kind === 'notification') places.set(n, (places.get(n) ?? new Set()).add(x + ' ' + y))
      })
    })()`)
    const frames = await open.evaluate<number>('playground.frames.length')
    await open.press('Play')
    await open.until(`playground.frames.length > ${frames + 2}`)
    const places = await open.evaluate<number[]>('[...places.values()].map(({ size }) => size)')
    expect(places.length).to.be.above(5)
    expect(Math.max(...places)).to.equal(1)
    await open.close()
  })
})
