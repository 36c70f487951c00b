// The stage that a reader saves as an SVG for slides.
import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startChromium } from '../../../environment/chromium.ts'
import { openPlayground, type OpenPlayground } from '../support/open-playground.ts'

const capture = fileURLToPath(new URL('../../cli/capture/kazoo.pcap', import.meta.url))

/** Saves the stage. Returns the name of the file, and the SVG. */
async function saved(open: OpenPlayground): Promise<{ name: string; svg: string }> {
  const download = open.page.waitForEvent('download')
  await open.press('save the stage as SVG')
  const file = await download
  return { name: file.suggestedFilename(), svg: await readFile(await file.path(), 'utf8') }
}

/** Returns which part of the pixels of two pictures of the same size differs clearly, from 0 to 1. */
const differing = (page: Page, one: Buffer, other: Buffer): Promise<number> =>
  page.evaluate(
    `(async ([one, other]) => {
      const pixels = async base64 => {
        const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + base64)).blob())
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
        context.drawImage(image, 0, 0)
        return context.getImageData(0, 0, image.width, image.height - 1).data
      }
      const [a, b] = [await pixels(one), await pixels(other)]
      let count = 0
      for (let i = 0; i < Math.min(a.length, b.length); i += 4)
        if ([0, 1, 2].some(c => Math.abs(a[i + c] - b[i + c]) > 90)) count++
      return count / (a.length / 4)
    })(${JSON.stringify([one.toString('base64'), other.toString('base64')])})`,
  )

describe('the stage as an SVG', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  const MOMENTS = {
    'a herd': { link: '', colorScheme: 'light', texts: ['standalone', '/lock', '12'] },
    'three servers, dark': { link: 'lesson=quorum.2', colorScheme: 'dark', texts: ['leader', 'proposal'] },
    'a capture': { link: '', colorScheme: 'light', texts: ['127.0.0.1:25789', 'one'] },
  } as const

  for (const [title, { link, colorScheme, texts }] of Object.entries(MOMENTS))
    it(`looks like the page, and needs no other file: ${title}`, async () => {
      const open = await openPlayground(browser, link, { colorScheme })
      if (title === 'a capture') {
        await open.page.getByLabel('Open a file').setInputFiles(capture)
        await open.evaluate('playground.goTo(16)')
        await open.idle()
      }
      const { name, svg } = await saved(open)
      expect(name).to.match(/^(herd-mutex|bare-clients|kazoo\.pcap)-\d+\.\d{3}s\.svg$/)
      for (const text of texts) expect(svg).to.contain(`>${text}</text>`)
      expect(svg).not.to.match(/class=|var\(|href|<script|foreignObject|<image/)
      const flying = await open.evaluate<number>('playground.view.flying.length + playground.picture.messages.length')
      expect(flying).to.be.above(0)
      // Each has a rim, and its shape.
      expect(svg.match(/transform="translate/g)).to.have.length(2 * flying)
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
      await page.setContent(`<body style="margin:0">${svg}`)
      // The stage begins at a whole pixel too, or every edge would differ.
      const { y = 0 } = (await open.page.locator('.stage').boundingBox()) ?? {}
      await open.evaluate(`document.querySelector('.theatre').style.marginTop = '${1 - (y % 1)}px'`)
      const [drawn, alone] = [
        await open.page.locator('.stage').screenshot(),
        await page.locator('svg').first().screenshot(),
      ]
      expect(await differing(page, drawn, alone)).to.be.below(0.005)
      expect(open.messages).to.deep.equal([])
      await page.close()
      await open.close()
    })

  it('has the name of a node as text, whatever it is', async () => {
    const open = await openPlayground(browser, '', {})
    await open.evaluate("playground.start({ recipe: 'bare-clients', clients: 2, servers: 1, seed: 7 })")
    await open.evaluate('playground.settle()')
    const call = { op: 'create', path: '/<b>&"x', data: '', mode: 'persistent' }
    await open.evaluate(`playground.act({ kind: 'call', client: 1, call: ${JSON.stringify(call)} })`)
    await open.evaluate('playground.settle()')
    await open.idle()
    const { svg } = await saved(open)
    const problem = `new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror')?.textContent`
    expect(await open.evaluate(problem)).to.equal(undefined)
    expect(svg).to.contain('/&lt;b&gt;&amp;')
    await open.close()
  })
})
