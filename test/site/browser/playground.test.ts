// The page of the playground: what it loads, and who can use it.
import { expect } from 'chai'
import { brotliCompressSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { linkOf } from '../../../site/world/story-link.ts'
import type { Story } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { builtPlayground, openPlayground, type OpenPlayground } from '../support/open-playground.ts'

async function storyThatCreates(path: string): Promise<Story> {
  await using world = await World.open({ recipe: 'bare-clients', clients: 2, servers: 1, seed: 7 })
  await world.settle()
  await world.act({ kind: 'call', client: 1, call: { op: 'create', path, data: '', mode: 'persistent' } })
  await world.settle()
  return world.story
}

const WIDTHS = { phone: 360, tablet: 820, desktop: 1280 }

describe('the playground', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  it('is one HTML file of less than 400 kB after brotli', async () => {
    expect(brotliCompressSync(await builtPlayground()).length).to.be.below(400_000)
  })

  it('is valid HTML', async () => {
    expect(await invalidHtml(await builtPlayground())).to.deep.equal([])
  })

  it('refuses a script that is not its own, even in its own page', async () => {
    const open = await openPlayground(browser)
    const run = await open.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'window.intruder = true'
      document.body.append(script)
      return window.intruder
    })()`)
    expect(run).to.equal(undefined)
    expect(open.messages.join()).to.match(/Content Security Policy/)
    await open.close()
  })

  it('shows a broken link as a sentence, and a text in a link as text', async () => {
    const open = await openPlayground(browser, '<img src=x onerror=alert(1)>')
    expect(await open.page.getByRole('alert').textContent()).to.match(/link/)
    expect(await open.page.locator('main img').count()).to.equal(0)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('shows only the stage and its buttons to a page that embeds it, and leads to the whole', async () => {
    const open = await openPlayground(browser, 'lesson=herd.2&embed', { viewport: { width: 760, height: 700 } })
    expect(await open.page.locator('.stage').isVisible()).to.equal(true)
    for (const part of ['.setup', '.lesson', '.lanes', '.costs'])
      expect(await open.page.locator(part).count()).to.equal(0)
    expect(await axeViolations(open.page)).to.deep.equal([])
    const link = await open.page.getByRole('link', { name: 'Open it in the playground' }).getAttribute('href')
    expect(link).to.equal('#lesson=herd.2')
    await open.press('one frame back')
    expect(await open.evaluate('location.hash')).to.equal('#lesson=herd.2&embed')
    await open.evaluate("void (location.hash = '#nonsense&embed')")
    await open.page.getByRole('alert').waitFor()
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('shows the name of a node as text, whatever it is', async () => {
    const name = '/<img src=x onerror=alert(1)>'
    const open = await openPlayground(browser, linkOf(await storyThatCreates(name)))
    expect(await open.page.locator('[data-path]').last().getAttribute('data-path')).to.equal(name)
    await open.evaluate(`playground.select({ kind: 'node', path: ${JSON.stringify(name)} })`)
    await open.idle()
    expect(await open.page.locator('.inspector').textContent()).to.contain(name)
    await open.evaluate("playground.select({ kind: 'client', client: 1 })")
    await open.idle()
    expect(await open.page.locator('.inspector .log').textContent()).to.contain(`create ${name}`)
    expect(await open.page.locator('img').count()).to.equal(0)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('stays valid HTML when it is drawn, whatever is chosen', async () => {
    const open = await openPlayground(browser, linkOf(await storyThatCreates('/a')))
    for (const selection of [
      "{kind:'frame',n:3}",
      "{kind:'client',client:1}",
      "{kind:'node',path:'/a'}",
      "{kind:'server',server:1}",
    ]) {
      await open.evaluate(`playground.select(${selection})`)
      await open.idle()
      const drawn = await open.evaluate<string>(
        'document.body.innerHTML.replaceAll(/<(script|style).*?<\\/\\1>/gs, "")',
      )
      expect(await invalidHtml(drawn), selection).to.deep.equal([])
    }
    await open.close()
  })

  for (const [where, width] of Object.entries(WIDTHS))
    for (const colorScheme of ['light', 'dark'] as const)
      describe(`at the width of a ${where}, ${colorScheme}`, () => {
        let open: OpenPlayground
        before(async () => {
          open = await openPlayground(browser, '', { viewport: { width, height: 900 }, colorScheme, bypassCSP: true })
        })
        after(() => open.close())

        it('requests no other resource, and logs no message', () => {
          expect(open.requests).to.have.length(1)
          expect(open.messages).to.deep.equal([])
        })

        it('is no wider than the window', async () => {
          expect(await open.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width)
        })

        it('passes axe, also with a frame, a client and a node chosen', async () => {
          expect(await axeViolations(open.page)).to.deep.equal([])
          for (const selection of ["{kind:'frame',n:150}", "{kind:'client',client:2}", "{kind:'node',path:'/lock'}"]) {
            await open.evaluate(`playground.select(${selection})`)
            await open.idle()
            expect(await axeViolations(open.page), selection).to.deep.equal([])
          }
        })
      })
})
