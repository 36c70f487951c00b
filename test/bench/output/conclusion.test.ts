import { expect } from 'chai'
import { conclusionOf } from '../../../bench/output/conclusion.ts'
import { readResult } from '../../../bench/output/result.ts'
import { fileURLToPath } from 'node:url'

const run = () => readResult(fileURLToPath(new URL('../../../docs/herd.json', import.meta.url)))

describe('the conclusion of the benchmark', () => {
  it('has ten sentences for the committed run, with the figures of its largest number of sessions', async () => {
    const [heading, ...sentences] = conclusionOf(await run())
    expect(heading).to.equal('IN SHORT, with 1000 sessions:')
    expect(sentences).to.have.length(10)
    const text = sentences.join('\n')
    expect(text).to.match(/^- herd \(.*\): one release notified 999 of 1000, and moved 59\.1 MB\.$/m)
    expect(text).to.match(/^- mutex \(.*\): one release notified 1 of 1000, and moved 59\.3 kB\.$/m)
    for (const words of [
      'Until each session has had the lock once, ',
      'herd moves 118 GB',
      'ms with ticket',
      'one change notified 1000 of 1000 sessions',
      '1000 sessions were back ',
    ])
      expect(text).to.contain(words)
    expect(text).not.to.match(/NaN|undefined|-\d| - /)
  })

  it('is about the largest size at which both herd and mutex were measured, if the run ended early', async () => {
    const result = await run()
    const cells = result.cells.filter(({ scenario, size }) => size < 1000 || scenario === 'data')
    expect(conclusionOf({ ...result, cells })[0]).to.equal('IN SHORT, with 200 sessions:')
  })

  it('has a sentence for each kind of scenario, and none for a kind that was not measured', async () => {
    const result = await run()
    for (const name of ['mutex', 'data', 'reconnect']) {
      const cells = result.cells.filter(({ scenario }) => scenario === name)
      const [, ...sentences] = conclusionOf({ ...result, cells })
      expect(sentences, name).not.to.deep.equal([])
      for (const sentence of sentences) expect(sentence).to.contain(name)
    }
    expect(conclusionOf({ ...result, cells: [] })).to.deep.equal([])
  })
})
