// What cons, dump and wchc say of sessions, in answers of Apache ZooKeeper 3.8.0.
import { expect } from 'chai'
import {
  connectionsIn,
  ephemeralPathsIn,
  ephemeralsIn,
  isDenied,
  isUnderstood,
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
    expect(connectionsIn(' /10.0.0.7:4[1](queued=0,recved=,sid=0x1)\n')).to.deep.equal([
      { session: '0x1', address: '10.0.0.7:4', timeout: null, requests: null },
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

  it('each word are read from ClickHouse Keeper, too', () => {
    const cons =
      ' 192.168.1.1:52163(recved=0,sent=0,sid=0xffffffffffffffff,lop=NA,est=1636454787393,to=30000,lzxid=0xffffffffffffffff,lresp=0)\n' +
      ' [::1]:52042(recved=9,sent=18,sid=0x0000000000000001,lop=List,est=1636454739887,to=30000,lcxid=0x0000000000000005)\n'
    expect(connectionsIn(cons)).to.deep.equal([
      { session: '0x1', address: '[::1]:52042', timeout: 30_000, requests: 9 },
    ])
    for (const indent of ['\t', ' ', '    ']) {
      const dump =
        'Sessions dump (2):\n0x0000000000000001\n0x0000000000000002\n' +
        `Sessions with Ephemerals (1):\n0x0000000000000001\n${indent}/clickhouse/task_queue/ddl\n`
      expect(sessionsIn(dump)).to.deep.equal(['0x1', '0x2'])
      expect([...ephemeralsIn(dump)]).to.deep.equal([['0x1', 1]])
      expect([...ephemeralPathsIn(dump)]).to.deep.equal(['/clickhouse/task_queue/ddl'])
      expect([...watchesIn(`0x0000000000000001\n${indent}/a\n${indent}/b\n`)]).to.deep.equal([['0x1', 2]])
      expect([...watchersIn(`/a\n${indent}0x0000000000000001\n`)]).to.deep.equal([['/a', 1]])
      expect(
        ['cons', 'dump', 'wchc', 'wchp'].map((word, i) =>
          isUnderstood(word, [cons, dump, `0x01\n${indent}/a\n`, `/a\n${indent}0x01\n`][i] ?? ''),
        ),
      ).to.deep.equal([true, true, true, true])
    }
    expect(watchCountIn('zk_version      v21.11.1.1\nzk_watch_count  1\n')).to.equal(1)
  })

  it('a word in an unknown form say nothing, and not that there is nothing', () => {
    for (const word of ['cons', 'dump', 'wchc', 'wchp', 'mntr'])
      expect(isUnderstood(word, 'something else\n'), word).to.equal(false)
    for (const word of ['cons', 'wchc', 'wchp']) expect(isUnderstood(word, '\n'), word).to.equal(true)
    expect(isUnderstood('dump', '\n')).to.equal(false)
  })

  it('a word that is not allowed are unknown', () => {
    expect(isDenied('wchc is not executed because it is not in the whitelist.\n')).to.equal(true)
    expect(isDenied('\n')).to.equal(false)
  })
})
