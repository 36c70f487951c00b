// A file of the reader in the page of the playground.
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import type { Row, WireLine } from '../../../src/cli/judge/record.ts'
import { savedTrial, trialLinkOf } from '../../../src/cli/judge/saved-trial.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { openPlayground, type OpenPlayground } from '../support/open-playground.ts'

const file = fileURLToPath(new URL('../../cli/capture/kazoo.pcap', import.meta.url))

async function choose(open: OpenPlayground, path = file): Promise<void> {
  await open.page.getByLabel('Open a file').setInputFiles(path)
  await open.idle()
}

describe('a file of the reader in the playground', () => {
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  it('is chosen by keyboard, and played to its end frame by frame, without a request', async () => {
    const open = await openPlayground(browser)
    const chooser = open.page.waitForEvent('filechooser')
    await open.page.getByLabel('Open a file').focus()
    await open.page.keyboard.press('Enter')
    await (await chooser).setFiles(file)
    await open.until('playground.capture !== undefined')
    await open.idle()
    expect(await open.page.locator('.capture h2').textContent()).to.equal('kazoo.pcap')
    expect(await open.page.getByRole('heading', { name: 'What it cannot say' }).count()).to.equal(1)
    // What the file says is in view and has the focus, so the keys play it.
    const { top } = await open.evaluate<{ top: number }>(
      "document.querySelector('.capture').getBoundingClientRect().toJSON()",
    )
    expect(top).to.be.within(0, 700)
    await open.page.keyboard.press('Space')
    expect(await open.evaluate('playground.playing')).to.equal(true)
    await open.page.keyboard.press('Space')
    expect(await open.evaluate('playground.playing')).to.equal(false)
    await open.evaluate('playground.changeSpeed(1), playground.changeSpeed(1), playground.changeSpeed(1)')
    const dots = open.evaluate<number>(`new Promise(resolve => {
      const seen = new Set()
      document.querySelector('.flights').addEventListener('painted', ({ detail }) => {
        for (const { n } of detail) seen.add(n)
        if (!playground.playing && seen.size > 1) resolve(seen.size)
      })
      playground.play()
    })`)
    expect(await dots, 'each frame was painted on its way').to.equal(40)
    expect(await open.evaluate('playground.frames.length')).to.equal(40)
    await open.press('one frame back')
    expect(await open.evaluate('playground.frames.length')).to.equal(39)
    await open.evaluate("playground.select({ kind: 'frame', n: 13 })")
    await open.idle()
    expect(await open.page.locator('.inspector .sentence').textContent()).to.match(/^client, xid 4: create/)
    expect([open.requests.length, open.messages, await open.evaluate('location.hash')]).to.deep.equal([1, [], ''])
    await open.close()
  })

  it('is opened when it is dropped on the page', async () => {
    const open = await openPlayground(browser)
    const bytes = readFileSync(file).toString('base64')
    await open.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(new File([Uint8Array.from(atob('${bytes}'), each => each.charCodeAt(0))], 'dropped.pcap'))
      const event = type => new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
      document.body.dispatchEvent(event('dragover'))
      document.body.dispatchEvent(event('drop'))
    })()`)
    await open.until('playground.capture?.name === "dropped.pcap"')
    await open.close()
  })

  it('is opened from the link of a trial, which stays in the address, and a damaged one is refused in a sentence', async () => {
    const bytes = '0000001800000001000000030000000b2f6a756467652f6c6f636b00'
    const line = {
      connection: 1,
      server: 'a:1',
      told: { from: 'client', op: 'exists', xid: 1, sentence: 'exists', bytes },
    }
    const rows: Row[] = [
      { at: 4, copy: 1, kind: 'judge', text: 'its session expires', holders: [] },
      { at: 5, copy: 1, kind: 'sent', text: 'exists', holders: [], line: line as WireLine },
    ]
    const link = trialLinkOf(savedTrial(rows, ['nobody gets the free lock']))?.slice(1) ?? expect.fail()
    const open = await openPlayground(browser, link)
    await open.idle()
    expect(await open.page.locator('.capture h2').textContent()).to.equal('The trial of the link')
    expect(await open.page.locator('.capture').textContent()).to.contain('nobody gets the free lock')
    await open.press('one frame forward')
    expect(await open.evaluate('playground.frames.map(({ op }) => op)')).to.deep.equal(['exists'])
    expect(await open.page.locator('.said dd').allTextContents(), 'without a click on the client').to.deep.equal([
      'client 1 from the judge: its session expires',
    ])
    expect(await open.evaluate('location.hash')).to.equal(`#${link}`)
    await open.evaluate(`void (location.hash = '${link.slice(0, -9)}')`)
    await open.until('playground.error !== undefined')
    await open.idle()
    expect(await open.page.getByRole('alert').textContent()).to.match(/^The trial of the link is damaged: /)
    expect(await open.evaluate('playground.frames.length')).to.equal(1)
    await choose(open)
    expect(await open.evaluate('location.hash')).to.equal('')
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('is refused in a sentence, and the page stays as it is', async () => {
    const open = await openPlayground(browser)
    const frames = await open.evaluate('playground.frames.length')
    await choose(open, fileURLToPath(import.meta.url))
    expect(await open.page.getByRole('alert').textContent()).to.contain('is no file that can be played')
    expect(await open.evaluate('playground.frames.length')).to.equal(frames)
    await choose(open)
    expect(await open.page.getByRole('alert').count()).to.equal(0)
    await open.press('Start again')
    expect(await open.evaluate('playground.capture')).to.equal(undefined)
    await open.close()
  })

  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`passes axe, is valid HTML and fits a window of ${width} pixels, ${colorScheme}`, async () => {
        const open = await openPlayground(browser, '', {
          viewport: { width, height: 900 },
          colorScheme,
          bypassCSP: true,
        })
        await choose(open)
        await open.evaluate('playground.goTo(25)')
        for (const selection of [
          'undefined',
          "{kind:'frame',n:20}",
          "{kind:'client',client:1}",
          "{kind:'server',server:1}",
          "{kind:'node',path:'/captured-by-kazoo'}",
        ]) {
          await open.evaluate(`playground.select(${selection})`)
          await open.idle()
          expect(await axeViolations(open.page), selection).to.deep.equal([])
          expect(await open.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
          const drawn = await open.evaluate<string>(
            'document.body.innerHTML.replaceAll(/<(script|style).*?<\\/\\1>/gs, "")',
          )
          expect(await invalidHtml(drawn), selection).to.deep.equal([])
        }
        await open.close()
      })
})
