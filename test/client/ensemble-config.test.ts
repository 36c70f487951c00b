// The text of /zookeeper/config, without a server.
import { expect } from 'chai'
import { configOf, reconfigRequest } from '../../src/client/ensemble-config.ts'
import { statOf } from '../support/scripted-server.ts'

const parsed = (text: string | null) => configOf({ data: text === null ? null : Buffer.from(text), stat: statOf() })
const secureOf = (line: string) => parsed(line).servers[0]?.secureClient
const clientOf = (line: string) => parsed(line).servers[0]?.client

describe('the configuration of an ensemble', () => {
  it('names each server with its role and addresses, and the version as a hexadecimal number', () => {
    const text = [
      'server.1=a:2888:3888:participant;10.0.0.1:2181',
      'server.2=b:2888:3888|c:2888:3888:observer;2182',
      'server.12=d:2888:3888',
      'version=10000001a',
    ].join('\n')
    const { servers, version } = parsed(text)
    expect(version).to.equal(0x1_0000_001an)
    expect(servers).to.deep.equal([
      {
        id: 1,
        role: 'participant',
        quorum: ['a:2888:3888'],
        client: { host: '10.0.0.1', port: 2181 },
        secureClient: undefined,
      },
      {
        id: 2,
        role: 'observer',
        quorum: ['b:2888:3888', 'c:2888:3888'],
        client: { host: 'b', port: 2182 },
        secureClient: undefined,
      },
      { id: 12, role: 'participant', quorum: ['d:2888:3888'], client: undefined, secureClient: undefined },
    ])
  })

  it('leads clients to the address for the other servers if a server listens on all of its addresses', () => {
    expect(clientOf('server.1=a:2888:3888;0.0.0.0:2181')).to.deep.equal({ host: 'a', port: 2181 })
    expect(clientOf('server.1=a:2888:3888;[::]:2181')).to.deep.equal({ host: 'a', port: 2181 })
    expect(clientOf('server.1=[fd00::1]:2888:3888;2181')).to.deep.equal({ host: 'fd00::1', port: 2181 })
    expect(clientOf('server.1=a:2888:3888;[fd00::2]:2181')).to.deep.equal({ host: 'fd00::2', port: 2181 })
  })

  it('knows each spelling of the address that means all addresses, as servers write it', () => {
    const all = ['0.0.0.0', '[::]', '[0:0:0:0:0:0:0:0]', '[::0]', '[0000:0000:0000:0000:0000:0000:0000:0000]']
    const mapped = ['[::ffff:0.0.0.0]', '[::ffff:0:0]', '[0:0:0:0:0:ffff:0:0]', '[::%0]', '[0:0:0:0:0:0:0:0%0]', '0']
    for (const host of [...all, ...mapped, '[::0.0.0.0]', '000.0.0.0']) {
      expect(clientOf(`server.1=a:2888:3888;${host}:2181`), host).to.deep.equal({ host: 'a', port: 2181 })
      expect(secureOf(`server.1=a:2888:3888;;${host}:2281`), host).to.deep.equal({ host: 'a', port: 2281 })
      expect(clientOf(`server.1=${host}:2888:3888|b:2888:3888;${host}:2181`)?.host, host).to.equal('b')
      expect(clientOf(`server.1=${host}:2888:3888;2181`), host).to.equal(undefined)
    }
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:10.0.0.1]', '[fe80::1%eth0]', '0.0.0.1', 'under_score'])
      expect(clientOf(`server.1=a:2888:3888;${host}:2181`)?.host).to.equal(host.replace(/[[\]]/g, ''))
  })

  it('has the second client port of 3.10 apart, which is for TLS', () => {
    const ports = (line: string) => [clientOf(line), secureOf(line)].map(at => at && `${at.host} ${at.port}`)
    const server = 'server.1=zk1:2888:3888:participant'
    expect(ports(`${server};0.0.0.0:2181;0.0.0.0:2281`)).to.deep.equal(['zk1 2181', 'zk1 2281'])
    expect(ports(`${server};2181;2281`)).to.deep.equal(['zk1 2181', 'zk1 2281'])
    expect(ports(`${server};[0:0:0:0:0:0:0:0]:2181;[fd00::2]:2281`)).to.deep.equal(['zk1 2181', 'fd00::2 2281'])
    expect(ports(`${server};;127.0.0.1:2281`)).to.deep.equal([undefined, '127.0.0.1 2281'])
    expect(ports(`${server};;2281`)).to.deep.equal([undefined, 'zk1 2281'])
    expect(ports(`${server};127.0.0.1:2181;`)).to.deep.equal(['127.0.0.1 2181', undefined])
    expect(ports(server)).to.deep.equal([undefined, undefined])
  })

  it('knows no address with a port that cannot be', () => {
    for (const port of ['0', '65536', '99999', '99999999999999999999', '-1', '2181x', ''])
      for (const text of [port, `127.0.0.1:${port}`, `0.0.0.0:${port}`, `[::1]:${port}`]) {
        expect(clientOf(`server.1=a:2888:3888;${text}`), text).to.equal(undefined)
        expect(secureOf(`server.1=a:2888:3888;2181;${text}`), text).to.equal(undefined)
      }
    for (const port of [1, 65_535]) expect(clientOf(`server.1=a:2888:3888;${port}`)?.port).to.equal(port)
  })

  it('reads the role behind each of several addresses, in any case', () => {
    const [server] = parsed('server.4=a:2888:3888:observer|[fd00::1]:2888:3888:observer;0.0.0.0:2181').servers
    expect(server).to.deep.include({ role: 'observer', quorum: ['a:2888:3888', '[fd00::1]:2888:3888'] })
    expect(server?.client).to.deep.equal({ host: 'a', port: 2181 })
    expect(parsed('server.1=a:2888:3888:OBSERVER;2181').servers[0]?.role).to.equal('observer')
    expect(parsed('server.1=a:2888:3888:participant|b:2889:3889:participant').servers[0]).to.deep.include({
      ...{ role: 'participant', quorum: ['a:2888:3888', 'b:2889:3889'], client: undefined },
    })
  })

  it('has no servers and no version on a server without dynamic configuration', () => {
    for (const text of [null, '', 'something else\nversion=none']) {
      const { servers, version } = parsed(text)
      expect([servers, version]).to.deep.equal([[], undefined])
    }
  })
})

describe('a change of the ensemble', () => {
  it('is sent as lists with commas; a list that is left out is null, and a version that is left out is -1', () => {
    expect(reconfigRequest({ joining: ['server.4=a', 'server.5=b'], leaving: [1, '2'] })).to.deep.equal({
      joiningServers: 'server.4=a,server.5=b',
      leavingServers: '1,2',
      newMembers: null,
      curConfigId: -1n,
    })
    expect(reconfigRequest({ members: 'server.1=a', version: 7n })).to.deep.equal({
      joiningServers: null,
      leavingServers: null,
      newMembers: 'server.1=a',
      curConfigId: 7n,
    })
  })
})
