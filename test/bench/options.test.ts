import { expect } from 'chai'
import { help, parseOptions, type Options } from '../../bench/options.ts'
import { UsageError } from '../../bench/output/usage.ts'
import { scenarios } from '../../bench/scenarios/index.ts'

const namesIn = ({ scenarios }: Options) => scenarios.map(({ name }) => name)
const choices = [...scenarios.map(({ name }) => name), 'locks', 'watches', 'sessions', 'all'].join(', ')

describe('the command line of the benchmark', () => {
  it('asks for nothing', () => {
    const options = parsed()
    expect(options.server).to.equal('embedded')
    expect(options.sizes).to.deep.equal([10, 50, 100, 200, 1000])
    expect(options.scenarios).to.deep.equal(scenarios.filter(({ isExtra }) => isExtra !== true))
    expect(options.seconds).to.be.within(10, 60)
    expect(options).to.include({ threads: 2, seed: 1, all: false, compare: undefined })
    expect(options.report).to.match(/bench\/results\/latest\.html$/)
    expect(options.json).to.match(/bench\/results\/latest\.json$/)
  })

  it('takes numbers of sessions in any order, each once', () => {
    expect(parsed('--sessions', '50, 2,50,7').sizes).to.deep.equal([2, 7, 50])
  })

  it('takes scenarios by name and by kind, each once', () => {
    expect(namesIn(parsed('--scenarios', 'mutex,herd,mutex'))).to.deep.equal(['herd', 'mutex'])
    expect(namesIn(parsed('--scenarios', 'watches,mutex'))).to.deep.equal(['mutex', 'data', 'child', 'recursive'])
    expect(parsed('--scenarios', 'all').scenarios).to.deep.equal(scenarios)
  })

  it('takes servers, a time and files', () => {
    const options = parsed(
      '--server',
      'zk1:2181,[::1]:2182',
      '--seconds=1.5',
      '--json',
      'a.json',
      '--compare',
      'b.json',
    )
    expect(options.server).to.equal('zk1:2181,[::1]:2182')
    expect(options.seconds).to.equal(1.5)
    expect(options).to.include({ json: 'a.json', report: 'a.html' })
    expect(parsed('--json', 'a.json', '--report', 'b.html').report).to.equal('b.html')
    expect(options.compare).to.equal('b.json')
  })

  it('takes an Apache ZooKeeper of its own in the place of the embedded server', () => {
    expect(parsed('--apache').server).to.equal('apache')
  })

  it('explains itself, with every option and every scenario, in 88 columns', () => {
    expect(parseOptions(['--help'])).to.equal('help')
    for (const option of [
      'server',
      'apache',
      'sessions',
      'scenarios',
      'seconds',
      'threads',
      'seed',
      'all',
      'json',
      'report',
      'compare',
      'help',
    ])
      expect(help).to.match(new RegExp(`^  --${option}\\b`, 'm'))
    for (const { name } of scenarios) expect(help).to.contain(name)
    expect(Math.max(...help.split('\n').map(line => line.length))).to.be.at.most(88)
  })

  for (const [args, complaint] of [
    [['--sessions', '10,x'], '--sessions: "10,x" is not a list of whole numbers from 2 on'],
    [['--sessions', '10,,20'], '--sessions: "10,,20" is not a list of whole numbers from 2 on'],
    [['--sessions', '1'], '--sessions: "1" is not a list of whole numbers from 2 on'],
    [['--sessions', '2.5'], '--sessions: "2.5" is not a list of whole numbers from 2 on'],
    [['--scenarios', 'mutex,mutx'], `--scenarios: "mutx" is none of ${choices}`],
    [['--seconds', '0'], '--seconds: "0" will not do'],
    [['--seconds', ''], '--seconds: "" will not do'],
    [['--threads', '0'], '--threads: "0" will not do'],
    [['--seed', '1.5'], '--seed: "1.5" will not do'],
    [['--server', 'zk1:99999'], '--server: "zk1:99999" is not host:port[,host:port]'],
    [['--server', ''], '--server: "" is not host:port[,host:port]'],
    [['--server', 'zk1:2181/app'], '--server: no path behind the port, please (/app)'],
    [['--apache', '--server', 'zk1:2181'], '--apache and --server: only one of them, please'],
    [['--json'], "Option '--json <value>' argument missing"],
    [['--verbose'], "Unknown option '--verbose'"],
    [['zk1:2181'], "Unexpected argument 'zk1:2181'"],
  ] as const)
    it(`refuses ${args.join(' ')} in one line`, () => {
      expect(() => parseOptions(args))
        .to.throw(UsageError)
        .with.property('message')
        .that.equals(complaint)
    })
})

function parsed(...args: string[]): Options {
  const options = parseOptions(args)
  if (options === 'help') throw new Error('did not ask for help')
  return options
}
