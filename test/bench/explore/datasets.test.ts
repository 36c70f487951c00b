import { expect } from 'chai'
import { columnsOf, pointsOf, type Dataset } from '../../../bench/explore/datasets.ts'
import { herdDatasets, peersDatasets, servicesDatasets } from '../../../bench/explore/flatten.ts'
import { explorePage } from '../../../bench/explore/page.ts'
import { readResult } from '../../../bench/output/result.ts'
import { readPeersResult } from '../../../bench/peers/result.ts'
import { bytesOf, parseServicesResult } from '../../../bench/services/result.ts'
import { readDocument } from '../../support/document.ts'

const small: Dataset = {
  name: 'small',
  observations: [
    { lock: 'a', figures: { contenders: 20, woken: 1 } },
    { lock: 'a', figures: { contenders: 10, woken: 0, ms: 3 } },
    { lock: 'b', figures: { contenders: 10 } },
  ],
}

describe('the table of which a reader chooses two columns', () => {
  it('offers each column that a row has', () => {
    expect(columnsOf(small)).to.deep.equal(['contenders', 'woken', 'ms'])
  })

  it('has a point for each row with both figures, and none at 0 on a logarithmic axis', () => {
    expect(pointsOf(small, ['contenders', 'woken'], false)).to.deep.equal([
      { lock: 'a', x: 10, y: 0 },
      { lock: 'a', x: 20, y: 1 },
    ])
    expect(pointsOf(small, ['contenders', 'woken'], true)).to.deep.equal([{ lock: 'a', x: 20, y: 1 }])
  })

  it('has the figures of the committed runs', async () => {
    const services = parseServicesResult(readDocument('docs/services.json'))
    const all = [
      ...servicesDatasets(services),
      ...peersDatasets(await readPeersResult('docs/peers.json')),
      ...herdDatasets(await readResult('docs/herd.json')),
    ]
    const dataset = (name: string) => all.find(each => each.name === name) ?? expect.fail(name)
    const cell = services.releases.find(({ lock, size }) => lock === 'redis-list' && size === 50) ?? expect.fail('cell')
    const points = pointsOf(dataset('services: release'), ['contenders', 'bytes'], true)
    expect(points).to.deep.include({ lock: 'Redis: BLPOP', x: 50, y: bytesOf(cell) })
    expect(points.some(({ lock }) => lock.includes('polled'))).to.equal(false)
    const trips = pointsOf(dataset('libraries: release'), ['contenders', 'round trips'], true)
    expect(trips).to.deep.include({ lock: 'Curator: InterProcessMutex', x: 100, y: 2 })
    expect(pointsOf(dataset('fan-out: release'), ['contenders', 'notifications'], true)).to.deep.include({
      ...{ lock: 'herd', x: 1000, y: 999 },
    })
    for (const each of all) expect(columnsOf(each), each.name).to.have.length.above(1)
  })

  it('is in the page, with text that cannot end the script', async () => {
    const page = await explorePage([{ ...small, name: '</script><b>' }], 'A run')
    const [, text = ''] = /id="datasets">\s*(.*)\s*<\/script>/.exec(page) ?? []
    expect(JSON.parse(text)).to.deep.equal([{ ...small, name: '</script><b>' }])
    expect(page).to.contain('<option value="0">&lt;/script&gt;&lt;b&gt;</option>')
  })
})
