import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { deadLinks } from '../../../site/checks/links.ts'
import { anchors, sectionsOf } from '../../../site/pages/document.ts'
import { startChromium } from '../../../environment/chromium.ts'

const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>${body}</main></body></html>`

describe('the checks of pages', () => {
  it('report invalid HTML with its line and column', async () => {
    expect(await invalidHtml(page('<p>One</p>'))).to.deep.equal([])
    expect((await invalidHtml(page('<p>One</i></p>')))[0]).to.match(/^1:\d+ .*(close-order)/)
    expect((await invalidHtml(page('<p id="a">One</p><p id="a">Two</p>')))[0]).to.match(/Duplicate ID "a"/)
  })

  it('report links that lead nowhere, and resources of other sites', () => {
    const files = new Map([
      [
        'index.html',
        '<a href="a/b.html#one">1</a> <a href="#two">2</a> <a href="gone.html">3</a> <a href="/b.html">4</a>',
      ],
      ['a/b.html', '<h2 id="one">1</h2> <a href="../index.html">5</a> <a href="https://example.org">6</a>'],
      ['c.html', '<script src="https://example.org/x.js"></script> <img src="x.png"> <a href="free.html#x">7</a>'],
      ['free.html', ''],
    ])
    expect(deadLinks(files, path => path === 'free.html')).to.deep.equal([
      'index.html: #two leads to no heading',
      'index.html: gone.html leads to no file',
      'index.html: /b.html does not start at its page, so the site works at one address only',
      'c.html: https://example.org/x.js is a resource of another site',
      'c.html: x.png leads to no file',
    ])
  })

  it('read a document as GitHub does: sections outside of code only, and unique anchors', () => {
    const text = 'Before\n## One\n```sh\n## a comment\n```\n## Two\nEnd\n'
    expect(sectionsOf(text).map(({ heading }) => heading)).to.deep.equal(['', 'One', 'Two'])
    const anchorOn = anchors()
    const headings = ['`get`, `set`', 'Shut down', 'Shut down', 'What’s new?']
    expect(headings.map(anchorOn)).to.deep.equal(['get-set', 'shut-down', 'shut-down-1', 'whats-new'])
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
