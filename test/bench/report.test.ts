import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { reportOf } from '../../bench/report/report.ts'
import { readResult, type Result } from '../../bench/result.ts'

describe('the report of the benchmark', () => {
  let result: Result
  before(async () => {
    result = await readResult(fileURLToPath(new URL('../../docs/herd.json', import.meta.url)))
  })

  it('is one file that asks the network for nothing', async () => {
    const page = await reportOf(result)
    expect(page).to.match(/^<!doctype html>/)
    expect(page).not.to.match(/<link|<iframe|@import|url\((?!#)|\bsrc=|\bhref=/)
    expect(page.replaceAll('http://www.w3.org/', '')).not.to.contain('http')
  })

  it('tells each figure of each phase', async () => {
    const page = await reportOf(result)
    for (const { size, phases } of result.cells)
      for (const { phase, counts } of phases) {
        expect(page).to.contain(`<td>${size}</td><td class="text">${phase}</td><td>${counts.notifications.median}</td>`)
      }
  })

  it('can be made of what an early end has left', async () => {
    const few = {
      ...result,
      cells: result.cells.slice(0, 1),
      growth: [],
      recordings: [],
      ended: 'Interrupted by SIGINT',
    }
    const page = await reportOf(few)
    expect(page).to.contain('ended early: Interrupted by SIGINT')
    expect(page).not.to.contain('class="timeline"')
    expect(page).not.to.match(/NaN|undefined|Infinity/)
  })

  it('takes no text for HTML', async () => {
    const page = await reportOf({ ...result, commandLine: 'npm start -- --json "<script>&"' })
    expect(page).to.contain('npm start -- --json &quot;&lt;script&gt;&amp;&quot;')
  })
})
