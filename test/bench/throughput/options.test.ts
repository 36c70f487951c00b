import { expect } from 'chai'
import { help, parseOptions, type Options } from '../../../bench/throughput/options.ts'
import { UsageError } from '../../../bench/output/usage.ts'
import { subjects, workloads } from '../../../bench/throughput/workloads.ts'

const parsed = (...args: string[]) => parseOptions(args) as Options

describe('the command line of the throughput benchmark', () => {
  it('selects all workloads in nine rounds by default', () => {
    const options = parsed()
    expect(options).to.include({ rounds: 9, warmUp: 500, span: 1000 })
    expect(options.workloads).to.deep.equal(workloads)
    expect(options.subjects).to.deep.equal(subjects)
    expect(options.json).to.match(/bench\/results\/throughput\.json$/)
  })

  it('accepts a subset of the workloads and subjects', () => {
    const options = parsed('--only', 'mock', '--subjects', 'zkwire,raw')
    expect(options.workloads).to.deep.equal(workloads.filter(({ on }) => on === 'mock'))
    expect(options.subjects).to.deep.equal(['zkwire', 'raw'])
  })

  it('accepts numbers, a file, and options for the measuring processes', () => {
    const options = parsed('--rounds', '2', '--warm-up=10', '--span=20', '--json=/a.json', '--node-option=--cpu-prof')
    expect(options).to.include({ rounds: 2, warmUp: 10, span: 20 })
    expect(options.json).to.equal('/a.json')
    expect(options.execArgv).to.deep.equal(['--cpu-prof'])
  })

  it('rejects invalid options, and says why', () => {
    expect(() => parsed('--only', 'getDate')).to.throw('no name contains "getDate". The names are: getData 1; ')
    expect(() => parsed('--subjects', 'zkwire,java')).to.throw('"java" is not one of zkwire, raw')
    for (const rounds of ['0', '1.5', 'many'])
      expect(() => parsed('--rounds', rounds)).to.throw(`--rounds: "${rounds}"`)
    expect(() => parsed('--round', '3')).to.throw(UsageError, "'--round'")
  })

  it('lists every option in the help', () => {
    expect(parseOptions(['--help'])).to.equal('help')
    for (const option of ['rounds', 'only', 'subjects', 'warm-up', 'span', 'node-option', 'json'])
      expect(help).to.include(`--${option} `)
  })
})
