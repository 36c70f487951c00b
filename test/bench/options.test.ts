import { expect } from 'chai'
import { help, parseOptions, UsageError, type Options } from '../../bench/options.ts'
import { recipes } from '../../bench/recipes.ts'

describe('the command line of the benchmark', () => {
  it('asks for nothing', () => {
    const options = parsed()
    expect(options.servers).to.equal(undefined)
    expect(options.contenders).to.deep.equal([10, 100, 1000])
    expect(options.recipes).to.deep.equal(recipes)
    expect(options.seconds).to.be.within(10, 90)
    expect(options.json).to.match(/bench\/results\/latest\.json$/)
  })

  it('takes numbers of contenders in any order, each once', () => {
    expect(parsed('--contenders', '50, 2,50,7').contenders).to.deep.equal([2, 7, 50])
  })

  it('takes names of recipes, in their order', () => {
    expect(parsed('--recipes', 'herd,mutex,herd').recipes.map(({ name }) => name)).to.deep.equal(['herd', 'mutex'])
  })

  it('takes servers, a time and a file', () => {
    const options = parsed('--server', 'zk1:2181,[::1]:2182', '--seconds=1.5', '--json', 'a.json')
    expect(options.servers).to.equal('zk1:2181,[::1]:2182')
    expect(options.seconds).to.equal(1.5)
    expect(options.json).to.equal('a.json')
  })

  it('explains itself, with every option and every recipe, in 90 columns', () => {
    expect(parseOptions(['--help'])).to.equal('help')
    for (const option of ['--server', '--contenders', '--recipes', '--seconds', '--json', '--help'])
      expect(help).to.contain(option)
    for (const { name } of recipes) expect(help).to.contain(name)
    expect(Math.max(...help.split('\n').map(line => line.length))).to.be.at.most(90)
  })

  for (const [args, complaint] of [
    [['--contenders', '10,x'], '--contenders: "10,x" is not a list of whole numbers from 2 on'],
    [['--contenders', '10,,20'], '--contenders: "10,,20" is not a list of whole numbers from 2 on'],
    [['--contenders', '1'], '--contenders: "1" is not a list of whole numbers from 2 on'],
    [['--contenders', '2.5'], '--contenders: "2.5" is not a list of whole numbers from 2 on'],
    [['--recipes', 'mutex,mutx'], `--recipes: "mutx" is none of ${recipes.map(({ name }) => name).join(', ')}`],
    [['--seconds', '0'], '--seconds: "0" is not a number of seconds'],
    [['--seconds', ''], '--seconds: "" is not a number of seconds'],
    [['--server', 'zk1:99999'], '--server: "zk1:99999" is not host:port[,host:port]'],
    [['--server', ''], '--server: "" is not host:port[,host:port]'],
    [['--server', 'zk1:2181/app'], '--server: no path behind the port, please (/app)'],
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
