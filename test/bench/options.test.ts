import { expect } from 'chai'
import { help, parseOptions, type Options } from '../../bench/options.ts'
import { scenarios } from '../../bench/scenarios/index.ts'
import { itRejects } from './rejects.ts'

const namesIn = ({ scenarios }: Options) => scenarios.map(({ name }) => name)
const choices = [...scenarios.map(({ name }) => name), 'locks', 'watches', 'sessions', 'all'].join(', ')

describe('the command line of the benchmark', () => {
  it('has a default for every option', () => {
    const options = parsed()
    expect(options.server).to.equal('embedded')
    expect(options.sizes).to.deep.equal([10, 50, 100, 200, 1000])
    expect(options.scenarios).to.deep.equal(scenarios.filter(({ isExtra }) => isExtra !== true))
    expect(options.seconds).to.be.within(10, 60)
    expect(options).to.include({ threads: 2, seed: 1, all: false, fleet: undefined })
    expect(options.report).to.match(/bench\/results\/latest\.html$/)
    expect(options.json).to.match(/bench\/results\/latest\.json$/)
  })

  it('sorts numbers of sessions, and ignores duplicates', () => {
    expect(parsed('--sessions', '50, 2,50,7').sizes).to.deep.equal([2, 7, 50])
  })

  it('accepts scenarios by name and by kind, and ignores duplicates', () => {
    expect(namesIn(parsed('--scenarios', 'mutex,herd,mutex'))).to.deep.equal(['herd', 'mutex'])
    expect(namesIn(parsed('--scenarios', 'watches,mutex'))).to.deep.equal(['mutex', 'data', 'child', 'recursive'])
    expect(parsed('--scenarios', 'all').scenarios).to.deep.equal(scenarios)
  })

  it('accepts servers, a time and files', () => {
    const options = parsed('--server', 'zk1:2181,[::1]:2182', '--seconds=1.5', '--json', 'a.json')
    expect(options.server).to.equal('zk1:2181,[::1]:2182')
    expect(options.seconds).to.equal(1.5)
    expect(options).to.include({ json: 'a.json', report: 'a.html' })
    expect(parsed('--json', 'a.json', '--report', 'b.html').report).to.equal('b.html')
  })

  it('puts a line before the server if one of its figures is given, and one for each delay', () => {
    expect(parsed().lines).to.deep.equal([])
    expect(parsed('--round-trip', '0.5').lines).to.deep.equal([{ roundTrip: 0.5, jitter: 0, bandwidth: Infinity }])
    expect(parsed('--jitter', '2', '--bandwidth', '100').lines).to.deep.equal([
      { roundTrip: 0, jitter: 2, bandwidth: 1e8 },
    ])
    const several = parsed('--round-trip', '0,0.5,5,0.5', '--jitter', '1').lines
    expect(several).to.deep.equal([0, 0.5, 5].map(roundTrip => ({ roundTrip, jitter: 1, bandwidth: Infinity })))
  })

  it('selects Apache ZooKeeper instead of the embedded server with --apache', () => {
    expect(parsed('--apache').server).to.equal('apache')
  })

  it('lists every option and every scenario in the help, in 88 columns', () => {
    expect(parseOptions(['--help'])).to.equal('help')
    for (const option of [
      'server',
      'apache',
      'sessions',
      'scenarios',
      'seconds',
      'threads',
      'processes',
      'join',
      'machines',
      'ensemble',
      'seed',
      'all',
      'json',
      'report',
      'help',
    ])
      expect(help).to.match(new RegExp(`^  --${option}\\b`, 'm'))
    for (const { name } of scenarios) expect(help).to.contain(name)
    expect(Math.max(...help.split('\n').map(line => line.length))).to.be.at.most(88)
  })

  itRejects(parseOptions, [
    [['--sessions', '10,x'], '--sessions: "10,x" is not a list of whole numbers of 2 or more'],
    [['--sessions', '10,,20'], '--sessions: "10,,20" is not a list of whole numbers of 2 or more'],
    [['--sessions', '1'], '--sessions: "1" is not a list of whole numbers of 2 or more'],
    [['--sessions', '2.5'], '--sessions: "2.5" is not a list of whole numbers of 2 or more'],
    [['--scenarios', 'mutex,mutx'], `--scenarios: "mutx" is not one of ${choices}`],
    [['--seconds', '0'], '--seconds: "0" is not valid'],
    [['--seconds', ''], '--seconds: "" is not valid'],
    [
      ['--round-trip', '0,5', '--scenarios', 'data'],
      '--round-trip: several delays compare locks, and --scenarios has none',
    ],
    [['--threads', '0'], '--threads: "0" is not valid'],
    [['--ensemble', '3', '--server', 'zk1:2181'], '--ensemble and --server exclude each other: pass only one of them'],
    [['--ensemble', '3', '--apache'], '--ensemble and --apache exclude each other: pass only one of them'],
    ...['1', '3+', '3-2', '8+2', ''].map(
      text =>
        [
          ['--ensemble', text],
          `--ensemble: ${JSON.stringify(text)} is not a number of servers, such as 3, or 3+2 with two observers (2 to 9 servers)`,
        ] as const,
    ),
    [['--machines', '2'], '--machines has an effect only with --join'],
    [
      ['--join', 'zk1:2181/run', '--sessions', '5'],
      '--join needs --machines: npm run bench -- join takes part in the run of another machine',
    ],
    [['--join', 'zk1:2181/run', '--machines', '0'], '--machines: "0" is not a whole number of 1 or more'],
    [
      ['--join', 'zk1:2181/run', '--machines', '2', '--apache'],
      '--join and --apache exclude each other: pass only one of them',
    ],
    ...['zk1:2181', 'zk1:2181/', 'zk1:x/run', ''].map(
      text =>
        [
          ['--join', text, '--machines', '2'],
          `${JSON.stringify(text)} is not host:port[,host:port]/path, with a path that is not /`,
        ] as const,
    ),
    [['--processes', '0'], '--processes: "0" is not a whole number of 1 or more'],
    [
      ['--processes', '2', '--threads', '2'],
      '--processes and --threads exclude each other: each process has one thread',
    ],
    [['--seed', '1.5'], '--seed: "1.5" is not valid'],
    [['--server', 'zk1:99999'], '--server: "zk1:99999" is not host:port[,host:port]'],
    [['--server', ''], '--server: "" is not host:port[,host:port]'],
    [['--server', 'zk1:2181/app'], '--server: a path is not allowed after the port (/app)'],
    [['--apache', '--server', 'zk1:2181'], '--apache and --server exclude each other: pass only one of them'],
    [['--json'], "Option '--json <value>' argument missing"],
    [['--verbose'], "Unknown option '--verbose'"],
    [['zk1:2181'], "Unexpected argument 'zk1:2181'"],
  ])
})

function parsed(...args: string[]): Options {
  const options = parseOptions(args)
  if (options === 'help') throw new Error('unexpected help')
  return options
}
