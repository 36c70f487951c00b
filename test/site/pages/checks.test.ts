import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { startChromium } from '../../browser/chromium.ts'

const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>${body}</main></body></html>`

describe('the checks of pages', () => {
  it('report invalid HTML with its line and column', async () => {
    expect(await invalidHtml(page('<p>One</p>'))).to.deep.equal([])
    expect((await invalidHtml(page('<p>One</i></p>')))[0]).to.match(/^1:\d+ .*(close-order)/)
    expect((await invalidHtml(page('<p id="a">One</p><p id="a">Two</p>')))[0]).to.match(/Duplicate ID "a"/)
  })

  describe('in a browser', () => {
    let browser: Browser
    before(async () => (browser = await startChromium()))
    after(() => browser.close())

    it('report what axe finds, with the element', async () => {
      const tab = await browser.newPage()
      await tab.setContent(page('<p>One</p>'))
      expect(await axeViolations(tab)).to.deep.equal([])
      await tab.setContent(page('<p style="color: #ddd; background: #fff">One</p><img src="data:,">'))
      const found = await axeViolations(tab)
      expect(found.join('\n')).to.match(/^color-contrast: .*<p style/m)
      expect(found.join('\n')).to.match(/^image-alt: .*<img /m)
    })
  })
})
