// What cons, dump and wchc say of sessions, in answers of Apache ZooKeeper 3.8.0.
import { expect } from 'chai'
import {
  connectionsIn,
  ephemeralPathsIn,
  ephemeralsIn,
  isDenied,
  sessionsIn,
  watchCountIn,
  watchersIn,
  watchesIn,
} from '../../../src/cli/diagnosis/session-words.ts'

describe('the sessions in the answer to', () => {
  it('cons have the address, timeout and requests of their connections; other connections have none', () => {
    const cons =
      ' /127.0.0.1:37132[0](queued=0,recved=1,sent=0)\n' +
      ' /0:0:0:0:0:0:0:1:37128[1](queued=0,recved=4,sent=4,sid=0x10001e349d60000,lop=GETC,est=1795477100275,to=10000)\n\n'
    expect(connectionsIn(cons)).to.deep.equal([
      { session: '0x10001e349d60000', address: '[0:0:0:0:0:0:0:1]:37128', timeout: 10_000, requests: 4 },
    ])
  })

  it('dump include those without a connection, and have their ephemeral nodes', () => {
    const end =
      'ephemeral nodes dump:\nSessions with Ephemerals (1):\n0x2:\n\t/a b\n\t/0x3:\n' +
      'Connections dump:\nConnections Sets (1)/(1):\n1 expire at Mon:\n\tip: /127.0.0.1:3 sessionId: 0x4\n'
    const sets = `SessionTracker dump:\nSession Sets (1)/(2):\n2 expire at Mon:\n\t0x1\n\t0x2\n${end}`
    const follower = `SessionTracker dump:\nGlobal Sessions(2):\n0x1\t10000ms\n0x2\t10000ms\n${end}`
    for (const dump of [sets, follower]) {
      expect(sessionsIn(dump)).to.deep.equal(['0x1', '0x2'])
      expect([...ephemeralsIn(dump)]).to.deep.equal([['0x2', 2]])
      expect([...ephemeralPathsIn(dump)]).to.deep.equal(['/a b', '/0x3:'])
    }
  })

  it('wchp have the number of sessions for each node, and mntr that of all watches', () => {
    expect([...watchersIn('/a b\n\t0x1\n\t0x2\n/0x3\n\t0x1\n\n')]).to.deep.equal([
      ['/a b', 2],
      ['/0x3', 1],
    ])
    expect(watchCountIn('zk_version\t3.8.0\nzk_watch_count\t17\nzk_x\t1\n')).to.equal(17)
    expect(watchCountIn('zk_version\t3.8.0\n')).to.equal(undefined)
  })

  it('wchc have the number of their watches', () => {
    expect([...watchesIn('0x1\n\t/a b\n\t/\n0x2\n\t/c\n\n')]).to.deep.equal([
      ['0x1', 2],
      ['0x2', 1],
    ])
  })

  it('a word that is not allowed are unknown', () => {
    expect(isDenied('wchc is not executed because it is not in the whitelist.\n')).to.equal(true)
    expect(isDenied('\n')).to.equal(false)
  })
})
