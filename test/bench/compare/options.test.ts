import { expect } from 'chai'
import { help, parseOptions } from '../../../bench/compare/options.ts'
import { itRejects } from '../rejects.ts'

describe('the command line of npm run bench -- compare', () => {
  it('has two results, and the growth that is a failure', () => {
    expect(parseOptions(['a.json', 'b.json'])).to.deep.equal({ files: ['a.json', 'b.json'], failIfWorse: undefined })
    expect(parseOptions(['a', 'b', '--fail-if-worse', '12.5%'])).to.include({ failIfWorse: 0.125 })
    expect(parseOptions(['a', 'b', '--fail-if-worse', '0 %'])).to.include({ failIfWorse: 0 })
    expect(parseOptions(['--help'])).to.equal('help')
    expect(help).to.match(/^ {2}--fail-if-worse/m)
  })

  itRejects(parseOptions, [
    [['a'], 'pass two files: the older result, and the newer one'],
    [['a', 'b', 'c'], 'pass two files: the older result, and the newer one'],
    [['a', 'b', '--fail-if-worse', '10'], '--fail-if-worse: "10" is not a percentage, such as 10%'],
    [['a', 'b', '--fail-if-worse', 'ten%'], '--fail-if-worse: "ten%" is not a percentage, such as 10%'],
    [['a', 'b', '--apache'], "Unknown option '--apache'"],
  ])
})
