// The sentences of `zkwire doctor`.
import { expect } from 'chai'
import {
  findingsOf,
  openNoSession,
  risksOf,
  serverReportOf,
  type Diagnosis,
  type ServerReport,
  type SessionReport,
} from '../../../src/cli/diagnosis/diagnosis.ts'

const no: ServerReport = { answers: false, why: 'ECONNREFUSED' }
const server = (mode: string, version = '3.8.0'): ServerReport => ({ answers: true, ms: 1, mode, version })
const session: SessionReport = {
  ...{ requestedTimeout: 10_000, timeout: 10_000, readMs: 1, writeMs: 2, triedWrite: true, isReadOnly: false },
  members: [1, 2, 3].map(id => ({ id, role: 'participant' })),
}
const diagnosis = (...plain: ServerReport[]): Diagnosis => ({
  hosts: plain.map((each, i) => ({
    host: `zk${i + 1}`,
    port: 2181,
    addresses: [{ address: `10.0.0.${i + 1}`, plain: each, tls: no }],
  })),
  usesTls: false,
  sendsCredentials: false,
  session,
})
const ensemble = diagnosis(server('leader'), server('follower'), server('follower'))

describe('zkwire doctor', () => {
  it('finds nothing wrong with an ensemble that works', () => {
    expect(findingsOf(ensemble)).to.deep.equal([])
  })

  it('writes an IPv6 address in brackets', () => {
    const host = { host: 'fd00::1', port: 2181, addresses: [{ address: 'fd00::1', plain: no, tls: no }] }
    const silent = findingsOf({ ...ensemble, hosts: [host] })
    expect(silent[0]).to.match(/^\[fd00::1\]:2181 does not answer/)
    const denied = serverReportOf('srvr is not executed because it is not in the whitelist.\n', 1)
    const addresses = [{ address: 'fd00::1', plain: denied, tls: no }]
    expect(risksOf({ ...ensemble, hosts: [{ ...host, addresses }] })[0]).to.match(/^\[fd00::1\]:2181: version/)
  })

  it('finds no risk in an ensemble of three servers that can all be checked', () => {
    expect(risksOf(ensemble)).to.deep.equal([])
  })

  it('names as risks what works now and does not endure a failure, or could not be checked', () => {
    const members = (...roles: ('participant' | 'observer')[]): Diagnosis => ({
      ...ensemble,
      session: { ...session, members: roles.map((role, id) => ({ id, role })) },
    })
    const voters = (count: number) => risksOf(members('observer', ...Array<'participant'>(count).fill('participant')))
    const denied = serverReportOf('srvr is not executed because it is not in the whitelist.\n', 1)
    for (const [risks, start] of [
      [
        risksOf(diagnosis(denied, server('leader'))),
        'zk1:2181: version and mode are unknown, because it does not allow',
      ],
      [risksOf({ ...diagnosis(server('standalone')), session: undefined }), 'A standalone server is a single point'],
      [
        risksOf({ ...ensemble, session: { ...session, members: undefined } }),
        'The members of the ensemble are unknown',
      ],
      [voters(2), 'The ensemble has 2 voters, and stops when one of them fails'],
      [voters(4), 'The ensemble has 4 voters, and endures no more failures than 3 would'],
      [risksOf(diagnosis(server('follower'))), 'The connect string names one server'],
      [risksOf({ ...ensemble, sendsCredentials: true }), 'The credentials are sent without TLS'],
    ] as const) {
      expect(risks.map(each => each.slice(0, start.length))).to.deep.equal([start])
    }
    expect([voters(3), voters(5)]).to.deep.equal([[], []])
    expect(risksOf({ ...ensemble, usesTls: true, sendsCredentials: true })).to.deep.equal([])
  })

  it('says which host does not answer, serves no requests, or is read-only', () => {
    expect(findingsOf(diagnosis(no, server('follower')))).to.deep.equal([
      'zk1:2181 (10.0.0.1) does not answer (ECONNREFUSED): check that the server runs, its port, and firewalls.',
    ])
    const noQuorum = serverReportOf('This ZooKeeper instance is not currently serving requests\n', 1)
    expect(findingsOf(diagnosis(noQuorum))[0]).to.match(/^zk1:2181 .* runs, but serves no requests: too few servers/)
    expect(findingsOf(diagnosis(server('read-only')))[0]).to.contain('is read-only, because it has lost its quorum')
  })

  it('knows the servers of others by their answers to srvr, and those that do not say whether they lead', () => {
    const rest = (mode: string) =>
      `Latency min/avg/max: 0/0/0\nReceived: 2\nSent : 2\nConnections: 1\nOutstanding: 0\nZxid: 34\n${mode}Node count: 4\n`
    const keeper = `ClickHouse Keeper version: v21.11.1.1-prestable-7a4a0b0edef0\n${rest('Mode: leader\n')}`
    const raftKeeper = `RaftKeeper version: RaftKeeper v2.0.4\n${rest('Mode: follower\n')}`
    const apache = `Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC\n`
    expect([keeper, raftKeeper].map(answer => serverReportOf(answer, 1))).to.deep.equal([
      server('leader', 'ClickHouse Keeper v21.11.1.1'),
      server('follower', 'RaftKeeper v2.0.4'),
    ])
    expect(serverReportOf(apache + rest('Mode: leader\n'), 1)).to.deep.equal(server('leader'))
    for (const mode of ['', 'Mode: \n']) {
      const report = serverReportOf(apache + rest(mode), 1)
      expect(report).to.deep.equal({ answers: true, ms: 1, version: '3.8.0', why: 'it does not say whether it leads' })
      expect(findingsOf(diagnosis(report, server('leader')))).to.deep.equal([])
      expect(risksOf(diagnosis(report, server('leader')))).to.deep.equal([
        'zk1:2181: the mode is unknown, because it does not say whether it leads.',
      ])
    }
    for (const other of [
      'HTTP/1.1 400 Bad Request\nVersion: 1\n',
      'HTTP/1.1 400 Bad Request\r\nServer: x version: 1.2\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2 version: 9\r\n',
      'Unknown version: srvr\n',
    ])
      expect(serverReportOf(other, 1), other).to.include({ answers: false, why: 'no ZooKeeper' })
    for (const name of ['zookeeper', 'ZooKeeper'])
      expect(serverReportOf(`${name} version: 3.3.6-1366786, built\nMode: leader\n`, 1)).to.deep.equal({
        ...server('leader'),
        version: '3.3.6',
      })
    expect(findingsOf(diagnosis(serverReportOf('-ERR unknown command\r\n', 1)))[0]).to.equal(
      'zk1:2181 (10.0.0.1) answers, and is no ZooKeeper: check the host and the port.',
    )
    // ClickHouse Keeper, if its list of words lacks srvr.
    expect(findingsOf(diagnosis(serverReportOf('', 1)))[0]).to.contain('four_letter_word_white_list')
  })

  it('knows that a session would only wait if servers run, and none of them opens one', () => {
    const noQuorum = serverReportOf('This ZooKeeper instance is not currently serving requests\n', 1)
    const lack = (...servers: ServerReport[]) => openNoSession(diagnosis(...servers).hosts, false)
    expect([lack(no, noQuorum), lack(noQuorum)]).to.deep.equal([true, true])
    expect([lack(no), lack(noQuorum, server('leader')), lack(server('read-only'))]).to.deep.equal([false, false, false])
    const other = serverReportOf('HTTP/1.1 400 Bad Request\r\n\r\n', 1)
    expect([lack(other), lack(no, other, noQuorum), lack(other, server('leader'))]).to.deep.equal([true, true, false])
    expect(openNoSession(diagnosis(noQuorum).hosts, true)).to.equal(false)
  })

  it('says that only one side speaks TLS', () => {
    const [host] = diagnosis(no).hosts
    const swapped = {
      ...host,
      host: 'zk1',
      port: 2181,
      addresses: [{ address: 'zk1', plain: no, tls: server('leader') }],
    }
    expect(findingsOf({ ...ensemble, hosts: [swapped] })).to.deep.equal([
      'zk1:2181 speaks TLS on this port: give --tls, or use the port for plaintext.',
    ])
    expect(findingsOf({ ...diagnosis(server('standalone')), usesTls: true })[0]).to.contain(
      'speaks plaintext, and not TLS',
    )
  })

  it('says that servers do not belong together', () => {
    expect(findingsOf(diagnosis(server('leader'), server('leader')))).to.deep.equal([
      '2 servers lead: they belong to different ensembles.',
    ])
    expect(findingsOf(diagnosis(server('standalone'), server('standalone', '3.9.2')))).to.deep.equal([
      'A standalone server is listed with others: they are no ensemble, and have different nodes.',
      'The servers have different versions: 3.8.0, 3.9.2.',
    ])
  })

  it('says what is wrong with the session', () => {
    const of = (changes: Partial<SessionReport>) => findingsOf({ ...ensemble, session: { ...session, ...changes } })
    expect(of({ timeout: 4000 })[0]).to.match(/^The server changed the session timeout from 10 s to 4 s/)
    expect(of({ clockDifference: -90_000 })[0]).to.match(/^The clock of the server is 90 s behind that of this machine/)
    expect(of({ readMs: 300, writeMs: 900 })).to.have.length(2)
    const { writeMs: _, ...unwritten } = session
    expect(findingsOf({ ...ensemble, session: unwritten })[0]).to.match(/^The session may not create nodes/)
    expect(findingsOf({ ...ensemble, session: { ...unwritten, triedWrite: false } })).to.deep.equal([])
    expect(findingsOf({ ...ensemble, session: undefined, failure: 'NOSERVER: x' })).to.deep.equal([
      'No session could be used: NOSERVER: x',
    ])
  })

  it('reads the answers to srvr, also those that refuse it', () => {
    const answer = 'Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on x\nMode: follower\n'
    expect(serverReportOf(answer, 1)).to.deep.equal({ answers: true, ms: 1, version: '3.8.0', mode: 'follower' })
    const refusal = 'srvr is not executed because it is not in the whitelist.\n'
    expect(serverReportOf(refusal, 1)).to.deep.equal({ answers: true, ms: 1, why: 'it does not allow srvr' })
    expect(serverReportOf('', 1).answers).to.equal(false)
  })
})
