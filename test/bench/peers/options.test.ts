import { expect } from 'chai'
import { help, parseOptions } from '../../../bench/peers/options.ts'
import { UsageError } from '../../../bench/output/usage.ts'

describe('the command line of npm run bench -- peers', () => {
  it('has a default for every option', () => {
    const options = parseOptions([])
    expect(options).to.deep.include({ sizes: [2, 10, 50, 100], seconds: 400, zooLock: undefined, tables: false })
    expect(options)
      .to.have.property('json')
      .that.matches(/bench\/results\/peers\.json$/)
    expect(options)
      .to.have.property('report')
      .that.matches(/bench\/results\/peers\.html$/)
  })

  it('accepts numbers of contenders, files and sources', () => {
    const args = ['--sessions', '10,2', '--json', 'a.json', '--zoo-lock', '/opt/zoo_lock']
    expect(parseOptions(args)).to.deep.include({
      sizes: [2, 10],
      json: 'a.json',
      report: 'a.html',
      zooLock: '/opt/zoo_lock',
    })
    expect(parseOptions(['--help'])).to.equal('help')
    expect(Math.max(...help.split('\n').map(line => line.length))).to.be.at.most(88)
  })

  it('rejects the options of npm start', () => {
    for (const option of ['--server=zk1:2181', '--scenarios=herd'])
      expect(() => parseOptions([option])).to.throw(UsageError, /^Unknown option/)
  })
})
