import { expect } from 'chai'
import { joinHelp, parseJoin } from '../../../bench/fleet/options.ts'
import { itRejects } from '../rejects.ts'

describe('the command line of npm run bench -- join', () => {
  it('has the servers and the path at which the machines meet, and a number of processes', () => {
    const meeting = { servers: 'zk1:2181,zk2', path: '/run' }
    expect(parseJoin(['zk1:2181,zk2/run'])).to.deep.equal({ meeting, processes: 2 })
    expect(parseJoin(['zk1:2181,zk2/run', '--processes', '4'])).to.deep.equal({ meeting, processes: 4 })
    expect(parseJoin(['--help'])).to.equal('help')
    expect(joinHelp).to.match(/^ {2}--processes/m)
  })

  itRejects(parseJoin, [
    [[], 'pass one argument: host:port[,host:port]/path'],
    [['zk1:2181'], '"zk1:2181" is not host:port[,host:port]/path, with a path that is not /'],
    [['zk1/run', '--processes', '0'], '--processes: "0" is not a whole number of 1 or more'],
    [['zk1/run', '--sessions', '5'], "Unknown option '--sessions'"],
  ])
})
