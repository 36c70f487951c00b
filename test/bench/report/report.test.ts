import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { adviceOf } from '../../../bench/model/advice.ts'
import { CONDITIONS } from '../../../bench/model/forecast.ts'
import { modelOf } from '../../../bench/model/model.ts'
import { reportOf } from '../../../bench/report/report.ts'
import { conclusionOf } from '../../../bench/output/conclusion.ts'
import { readResult, type Result } from '../../../bench/output/result.ts'

describe('the report of the benchmark', () => {
  let result: Result
  let page: string
  /** The page with a space in place of each white space. */
  let text: string
  before(async () => {
    result = await readResult(fileURLToPath(new URL('../../../docs/herd.json', import.meta.url)))
    page = await reportOf(result)
    text = page.replace(/\s+/g, ' ')
  })

  it('is one file without external resources', () => {
    expect(page).to.match(/^<!doctype html>/)
    expect(page).not.to.match(/<link|<iframe|@import|url\((?!#)|\bsrc=|\bhref=/)
    expect(page.replaceAll('http://www.w3.org/', '')).not.to.contain('http')
  })

  it('shows the figures of each phase', () => {
    for (const { size, phases } of result.cells)
      for (const { phase, counts } of phases) {
        expect(page).to.contain(`<td>${size}</td><td class="text">${phase}</td><td>${counts.notifications.median}</td>`)
      }
  })

  it('shows how many round trips each lock needs from a release to the next holder', async () => {
    expect(page).to.contain('counted in these frames. ephemeral: 3; herd: 2; mutex: 2; look-ahead: 1; ticket: 1')
    expect(await reportOf({ ...result, recordings: [] })).not.to.contain('counted in these frames')
  })

  it('forecasts ten times the largest number of contenders, and shows how well it forecast the largest one', () => {
    const { verdict = expect.fail('no verdict') } = adviceOf(modelOf(result), 10_000, CONDITIONS)
    expect(verdict).to.match(/^HerdMutex breaks at \d+; take Mutex\.$/)
    expect(text).to.contain(`<p class="verdict">${verdict}</p>`)
    expect(text).to.contain('<p class="conditions">With 10,000 contenders that hold the lock for 100 ms each, ')
    expect(text).to.contain('<li>A change of one node that all watch notifies 10,000, ')
    expect(text).to.match(/<li>Take \w+/)
    expect(text).to.match(/<form class="forecast-form" hidden>/)
    expect(text).to.contain('<td class="text">bytes read</td><td>1000</td><td>10, 50, 100</td><td>59032948</td>')
    expect(text).to.match(/ns a byte \([\d.]+ to [\d.]+\)/)
    expect(text).to.match(/lists were read at [\d.]+ [MG]bit\/s( \([\d.]+ [MG]bit\/s to [\d.]+ [MG]bit\/s\))?\./)
  })

  it('shows how well hand-overs through lines with other delays were forecast, if the run had several', async () => {
    expect(page).not.to.contain('with other delays')
    const times = { 0: 2, 5: 12, 50: 103 }
    const handOvers = Object.entries(times).map(([delay, ms]) => ({
      ...{ scenario: 'mutex', size: 10, roundTrip: Number(delay), ms },
    }))
    const timed = (await reportOf({ ...result, handOvers })).replace(/\s+/g, ' ')
    expect(timed).to.contain('are 1 of 1 with 0 ms, 1 of 1 with 5 ms, 1 of 1 with 50 ms.')
    expect(timed).to.contain('<td>50</td><td>102</td><td>103</td><td>-1 %</td>')
  })

  it('shows the model and how well it forecast, but no form, if no lock was measured', async () => {
    const isLock = (name: string) => result.scenarios.some(each => each.name === name && each.kind === 'lock')
    const without = <T extends { scenario: string }>(all: readonly T[]) => all.filter(each => !isLock(each.scenario))
    const watches = { ...result, cells: without(result.cells), growth: without(result.growth), recordings: [] }
    const page = (await reportOf(watches)).replace(/\s+/g, ' ')
    expect(page)
      .to.contain('No lock was timed at enough sizes, so none can be recommended.')
      .and.to.contain('<summary>The parts of the model</summary>')
      .and.to.contain('<summary>The largest sizes, forecast and measured</summary>')
      .and.not.to.contain('<form class="forecast-form"')
    expect(page).not.to.match(/NaN|undefined|Infinity/)
  })

  it('answers the question first, then says what the terminal says, and shows plots and tables after that', () => {
    const places = [
      'class="verdict"',
      'the fit (dashed)',
      'id="in-short">In short, with 1000',
      'id="one-release"',
      '<table',
    ]
    const found = places.map(place => text.indexOf(place))
    expect(found).not.to.include(-1)
    expect(found).to.deep.equal(found.toSorted((a, b) => a - b))
    for (const sentence of conclusionOf(result).slice(1)) expect(text).to.contain(sentence.slice(2))
  })

  it('contains the model as data, whose names cannot end the script', async () => {
    const name = '</script><b>'
    const renamed = <T extends { scenario: string }>(all: readonly T[]) =>
      all.map(each => (each.scenario === 'herd' ? { ...each, scenario: name } : each))
    const scenarios = result.scenarios.map(each => (each.name === 'herd' ? { ...each, name } : each))
    const { cells, growth, recordings } = result
    const others = { cells: renamed(cells), growth: renamed(growth), recordings: renamed(recordings) }
    const page = await reportOf({ ...result, ...others, scenarios, model: undefined, heldOut: undefined } as never)
    const [, data = ''] = /<script type="application\/json" id="model">([^]*?)<\/script>/.exec(page) ?? []
    const { phases } = JSON.parse(data) as { phases: { scenario: string }[] }
    expect(phases.map(({ scenario }) => scenario)).to.include(name)
  })

  it('can be made from an incomplete run', async () => {
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
    expect(page.replace(/<script[^]*?<\/script>/g, '')).not.to.match(/NaN|undefined|Infinity/)
  })

  it('compares the worst and the best lock at the largest common size', async () => {
    const cells = result.cells.filter(({ scenario, size }) => scenario !== 'herd' || size < 1000)
    expect((await reportOf({ ...result, cells })).replace(/\s+/g, ' ')).to.match(
      /With 200 contenders, one release of the herd lock notifies <b>199<\/b> of them/,
    )
  })

  it('compares the counts of server and clients, and shows differences', async () => {
    const clients = { framesSent: 11, framesReceived: 22, bytesSent: 33, bytesReceived: 44 }
    const page = (server: Partial<typeof clients>, agree: boolean) =>
      reportOf({ ...result, cells: result.cells.map(cell => ({ ...cell, bothSides: { clients, server, agree } })) })
    const alike = await page({ framesSent: 11, framesReceived: 22, bytesSent: 33 }, true)
    expect(alike).to.contain('<td>= 33</td><td>44 (not reported by the server)</td>')
    expect(alike).to.contain('The server counted the same')
    const unlike = await page({ framesSent: 12 }, false)
    expect(unlike).to.contain('<td>11 ≠ 12</td>')
    expect(unlike).to.contain('The server’s counts differ from the clients’')
  })

  it('escapes text', async () => {
    const page = await reportOf({ ...result, commandLine: 'npm start -- --json "<script>&"' })
    expect(page).to.contain('npm start -- --json &quot;&lt;script&gt;&amp;&quot;')
  })
})
