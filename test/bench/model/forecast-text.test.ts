import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { parseOptions, type ForecastOptions } from '../../../bench/model/options.ts'
import { forecastText } from '../../../bench/model/forecast-text.ts'
import { readResult } from '../../../bench/output/result.ts'
import { failureOf } from '../../support/settled.ts'
import { itRejects } from '../rejects.ts'

const forecast = fileURLToPath(new URL('../../../docs/forecast.json', import.meta.url))

function parsed(...args: string[]): ForecastOptions {
  const options = parseOptions(args)
  return options === 'help' ? expect.fail('unexpected help') : options
}

async function textFor(...args: string[]): Promise<string> {
  const options = parsed(...args)
  return forecastText(await readResult(options.result), options)
}

describe('npm run bench:forecast', () => {
  it('reads the committed run by default, and forecasts ten times its largest number of contenders', async () => {
    const text = await textFor()
    expect(text).to.match(/^With 10,000 contenders, a line of 1\.00 Gbit\/s, 4 cores /)
    expect(text)
      .to.match(/^- Take \w+/m)
      .and.to.match(/^- HerdMutex: .* It cannot keep up from \d+ contenders on\.$/m)
    expect(text).to.match(
      /^Forecast from docs\/herd\.json: Apache ZooKeeper .*, up to 1000 contenders, on \d+ cores of /m,
    )
    expect(text).to.match(/^Of the figures with 1000 sessions, .* are at most 25 % off\./m)
    expect(text).not.to.match(/NaN|undefined|Infinity/)
  })

  it('has a paragraph for each number of contenders, with the given conditions', async () => {
    const text = await textFor(
      '--sessions',
      '100,1000000',
      '--line-rate',
      '10G',
      '--cores',
      '8',
      '--round-trip',
      '2',
      '--releases',
      '50',
    )
    const conditions = 'a line of 10.0 Gbit/s, 8 cores of the server, a round trip of 2.00 ms and 50 releases a second:'
    expect(text)
      .to.contain(`With 100 contenders, ${conditions}`)
      .and.to.contain(`With 1,000,000 contenders, ${conditions}`)
  })

  it('forecasts what watches cost if no lock was measured', async () => {
    const result = await readResult(forecast)
    const cells = result.cells.filter(({ scenario }) => scenario !== 'ticket')
    const text = forecastText({ ...result, cells }, parsed('--sessions', '1000000'))
    expect(text)
      .to.match(
        /^No lock was timed and recorded at enough sizes, so none can be recommended\.\n\nWith 1,000,000 sessions:/,
      )
      .and.to.match(
        /^- data, \w+: notifies 1,000,000, moves [\d.]+ [MG]B, and costs the server [\d.]+ s of processor time\.$/m,
      )
      .and.to.match(/^Of the figures with 10,000 sessions, .* are at most 25 % off\./m)
  })

  it('rejects a file without a result, and one without enough sizes', async () => {
    const error = await failureOf(textFor('--result', fileURLToPath(import.meta.url)))
    expect(error).to.have.property('message').that.contains('forecast-text.test.ts')
    const result = await readResult(forecast)
    expect(() => forecastText({ ...result, cells: [] }, parsed())).to.throw(
      /contains nothing that was measured with enough sizes/,
    )
  })

  it('has defaults for all options', () => {
    expect(parsed()).to.deep.include({
      sizes: undefined,
      lineRate: 1e9,
      cores: 4,
      roundTrip: 0.5,
      releases: 10,
    })
    expect(parsed('--line-rate', '2.5M').lineRate).to.equal(2.5e6)
    expect(parsed('--sessions', '2, 1000000000').sizes).to.deep.equal([2, 1e9])
  })

  itRejects(parseOptions, [
    [['--sessions', '1'], '--sessions: "1" is not a list of whole numbers from 2 to 1000000000'],
    [['--sessions', '10,x'], '--sessions: "10,x" is not a list of whole numbers from 2 to 1000000000'],
    [['--sessions', '1000000001'], '--sessions: "1000000001" is not a list of whole numbers from 2 to 1000000000'],
    [['--line-rate', '1000'], '--line-rate: "1000" is not a rate in bits a second, such as 100M or 10G'],
    [['--line-rate', '0G'], '--line-rate: "0G" is not a rate in bits a second, such as 100M or 10G'],
    [['--cores', '0'], '--cores: "0" is not a number above 0'],
    [['--round-trip', ''], '--round-trip: "" is not a number above 0'],
    [['--releases', 'many'], '--releases: "many" is not a number above 0'],
    [['--apache'], "Unknown option '--apache'"],
  ])
})
