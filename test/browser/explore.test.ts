// Checks in a browser the page on which a reader chooses the axes.
import { expect } from 'chai'
import { startChromium } from '../../environment/chromium.ts'
import { servicesDatasets } from '../../bench/explore/flatten.ts'
import { explorePage } from '../../bench/explore/page.ts'
import { parseServicesResult } from '../../bench/services/result.ts'
import { readDocument } from '../support/document.ts'
import { openWindow, pageFile, WIDTHS } from './report-window.ts'

describe('the page on which a reader chooses the axes', () => {
  it('draws the chosen columns, requests no other resource, and logs no message', async () => {
    const services = parseServicesResult(readDocument('docs/services.json'))
    const file = await pageFile(await explorePage(servicesDatasets(services), 'A run.'))
    const browser = await startChromium()
    try {
      const opened = await openWindow(browser, file.address, { viewport: WIDTHS.desktop })
      const { page, messages, requests } = opened
      const shown = async () => [await page.locator('#plot').innerText(), await page.locator('#shown').innerText()]
      const [first = '', count = ''] = await shown()
      expect(first).to.include('contenders').and.to.include('frames').and.to.include('Redis: BLPOP')
      expect(count).to.match(/^\d+ points of \d+ locks\./)
      await page.getByLabel('y axis').selectOption('hand-over, ms')
      expect((await shown())[0]).to.include('hand-over, ms')
      await page.getByLabel('table').selectOption('services: all want it at once')
      await page.getByLabel('logarithmic').uncheck()
      const [other = ''] = await shown()
      expect(other).to.include('grants a second').and.to.include('Jain’s index').and.not.to.include('contenders')
      expect(requests).to.deep.equal([file.address])
      expect(messages).to.deep.equal([])
    } finally {
      await browser.close()
      await file.remove()
    }
  })
})
