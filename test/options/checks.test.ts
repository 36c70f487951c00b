import { expect } from 'chai'
import { mustBe, optionsProblem } from '../../src/options/checks.ts'

describe('a check of an option', () => {
  const text = mustBe('a string', (value: unknown) => typeof value === 'string')

  it('returns nothing if the value is valid', () => {
    expect(text('')).to.equal(undefined)
  })

  for (const [value, shown] of [
    [null, 'null'],
    [1.5, '1.5'],
    [12n, '12'],
    [['secret'], 'an array'],
    [{ secret: 1 }, 'an object'],
    [true, 'a boolean'],
    [() => 'secret', 'a function'],
    [undefined, 'a undefined'],
  ] as const)
    it(`shows of a wrong value only that it is ${shown}`, () => {
      expect(text(value)).to.equal(`must be a string, not ${shown}`)
    })
})

describe('the problem of options', () => {
  const number = mustBe('a number', (value: unknown) => typeof value === 'number')
  const checks = { timeout: number, watcher: number }
  const problemOf = (options: unknown) => optionsProblem<{ timeout?: number; watcher?: number }>(options, checks)

  it('is none if all are valid, left out or undefined', () => {
    for (const options of [{}, { timeout: 1 }, { timeout: 1, watcher: 2 }, { timeout: undefined, other: undefined }])
      expect(problemOf(options)).to.equal(undefined)
  })

  it('is that they are no object', () => {
    for (const [options, shown] of [
      [5, '5'],
      [null, 'null'],
      [[], 'an array'],
      ['text', 'a string'],
      [undefined, 'a undefined'],
    ])
      expect(problemOf(options)).to.equal(`options must be an object, not ${String(shown)}`)
  })

  it('is the first wrong value, with its name', () => {
    expect(problemOf({ watcher: 'x' })).to.equal('watcher must be a number, not a string')
    expect(problemOf({ timeout: null, watcher: 'x' })).to.equal('timeout must be a number, not null')
  })

  it('is a wrong value that a getter of a class returns', () => {
    class Options {
      get timeout() {
        return 'x'
      }
    }
    expect(problemOf(new Options())).to.equal('timeout must be a number, not a string')
  })

  it('is an unknown name, with the most similar option and a short list of all', () => {
    const list = ' (the options are timeout, watcher)'
    expect(problemOf({ timout: 1 })).to.equal(`there is no option 'timout'; did you mean 'timeout'?${list}`)
    expect(problemOf({ WATCH: 1 })).to.equal(`there is no option 'WATCH'; did you mean 'watcher'?${list}`)
    expect(optionsProblem({ a: 1 }, {})).to.equal("there is no option 'a'")
  })

  it('lists at most eight options', () => {
    const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`option${i}`, number]))
    expect(optionsProblem({ option: 1 }, named(8) as never)).to.contain('(the options are option0, ')
    expect(optionsProblem({ option: 1 }, named(9) as never)).not.to.contain('the options are')
  })

  for (const [given, meant, options] of [
    ['timeuot', 'timeout', ['timeline', 'timeout', 'tide']],
    ['tmeout', 'timeout', ['tmo', 'timeout']],
    ['timeoutt', 'timeout', ['timeline', 'timeout']],
    ['sessionTimout', 'sessionTimeout', ['session', 'sessionTimeout', 'connectTimeout']],
    ['sessionId', 'session', ['sasl', 'session']],
    ['host', 'hostname', ['port', 'hostname']],
    ['theHostName', 'hostname', ['themhostnams', 'hostname']],
    ['gte', 'get', ['get', 'rm', 'tee']],
    ['aaaa', 'aaab', ['bbbb', 'aaab']],
    ['ab', 'abc', ['cd', 'abc', 'xyz']],
    ['top', undefined, ['lock', 'stat', 'rm', 'sync']],
    ['verbose', undefined, ['data', 'mode', 'parents']],
    ['x', undefined, ['export', 'explain']],
  ] as const)
    it(`for '${given}' names ${meant ?? 'none'} of ${options.join(', ')}`, () => {
      const question = meant === undefined ? '' : `; did you mean '${meant}'?`
      for (const names of [options, options.toReversed()]) {
        const all = Object.fromEntries(names.map(option => [option, number]))
        const list = ` (the options are ${names.join(', ')})`
        expect(optionsProblem({ [given]: 1 }, all as never)).to.equal(`there is no option '${given}'${question}${list}`)
      }
    })
})
