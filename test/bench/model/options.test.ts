import { expect } from 'chai'
import { help, parseOptions } from '../../../bench/model/options.ts'
import { itRejects } from '../rejects.ts'

describe('the command line of npm run bench -- forecast', () => {
  it('takes numbers in the units of its fields, and the conditions of a reader who gives none', () => {
    const usual = parseOptions([])
    expect(usual).to.include({ lock: 'HerdMutex', contenders: 1000 })
    expect(usual)
      .to.have.property('conditions')
      .that.deep.equals({
        ...{ lineRate: 1e9, cores: 4, servers: 1, roundTrip: 0.5, hold: 100 },
      })
    const own = parseOptions(['Mutex', '--contenders', '50', '--hold', '2.5', '--line', '100', '--servers', '3'])
    expect(own).to.include({ lock: 'Mutex', contenders: 50 })
    expect(own).to.have.property('conditions').that.includes({ hold: 2.5, lineRate: 1e8, servers: 3 })
    expect(parseOptions(['--help'])).to.equal('help')
    expect(help).to.contain('--round-trip N')
  })

  itRejects(parseOptions, [
    [
      ['Herd'],
      '"Herd" is not a lock that was measured: Mutex, Mutex with lookAhead: false, TicketMutex, EphemeralMutex, HerdMutex',
    ],
    [['--contenders', '2.5'], '--contenders: "2.5" is not a whole number from 2 to 1000000000'],
    [['--hold', 'x'], '--hold: "x" is not a number from 0.001 to 1000000000'],
    [['--servers', '0'], '--servers: "0" is not a whole number from 1 to 99'],
    [['--sessions', '5'], "Unknown option '--sessions'"],
  ])
})
