import { expect } from 'chai'
import fc from 'fast-check'
import { inspect } from 'node:util'
import { ZooKeeperError } from '../../../src/protocol/index.ts'
import { parseConnectString } from '../../../src/session/servers/connect-string.ts'

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a connect string', () => {
  const good: [servers: string, hosts: string[], chroot?: string][] = [
    ['zk', ['zk 2181']],
    ['zk:2182', ['zk 2182']],
    ['zk:1', ['zk 1']],
    ['zk:65535', ['zk 65535']],
    ['zk1:2181,zk2:2182,zk3', ['zk1 2181', 'zk2 2182', 'zk3 2181']],
    [' zk1 , zk2:2182 ', ['zk1 2181', 'zk2 2182']],
    ['10.0.0.1:2181', ['10.0.0.1 2181']],
    ['10.0.0.1', ['10.0.0.1 2181']],
    ['zk.example.org:2181', ['zk.example.org 2181']],
    ['[::1]:2182', ['::1 2182']],
    ['[::1]', ['::1 2181']],
    ['::1', ['::1 2181']],
    ['::', [':: 2181']],
    ['fe80::1:2181', ['fe80::1:2181 2181']],
    ['[fe80::1%eth0]:2182', ['fe80::1%eth0 2182']],
    ['[::ffff:10.0.0.1]:2182', ['::ffff:10.0.0.1 2182']],
    ['::ffff:10.0.0.1', ['::ffff:10.0.0.1 2181']],
    ['[2001:DB8::1]:2181,zk', ['2001:DB8::1 2181', 'zk 2181']],
    ['zk/app', ['zk 2181'], '/app'],
    ['zk1,zk2:2182/app/one ', ['zk1 2181', 'zk2 2182'], '/app/one'],
    ['[::1]:2181/app', ['::1 2181'], '/app'],
    ['zk/', ['zk 2181'], ''],
    ['zk,zk', ['zk 2181', 'zk 2181']],
    ['zk1:2181/app,zk2:2182/app', ['zk1 2181', 'zk2 2182'], '/app'],
    ['zk1/a,b', ['zk1 2181'], '/a,b'],
    ['zk1/app ,zk2/app', ['zk1 2181', 'zk2 2181'], '/app'],
    ['zk1:2181/app , zk2:2181/app', ['zk1 2181', 'zk2 2181'], '/app'],
    // As Java's client takes them.
    ['zk,', ['zk 2181']],
    [',zk', ['zk 2181']],
    ['zk1:2181,zk2:2182,', ['zk1 2181', 'zk2 2182']],
    ['zk1,,zk2 , ,', ['zk1 2181', 'zk2 2181']],
    ['zk1:2181,/app', ['zk1 2181'], '/app'],
    ['zk1/app,zk2/app,', ['zk1 2181', 'zk2 2181'], '/app'],
    ['zk:', ['zk 2181']],
    ['cafe:', ['cafe 2181']],
    ['[::1]:', ['::1 2181']],
    ['zk1:,zk2:2182/app', ['zk1 2181', 'zk2 2182'], '/app'],
    ['[fe80::1%eth0.100]:2182', ['fe80::1%eth0.100 2182']],
    ['[fe80::1%br-lan]', ['fe80::1%br-lan 2181']],
    ['fe80::1%eth0.100', ['fe80::1%eth0.100 2181']],
    ['fe80::1%wlx00c0-2.5,zk', ['fe80::1%wlx00c0-2.5 2181', 'zk 2181']],
    // Of other programs
    ['10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/solr', ['10.0.0.1 2181', '10.0.0.2 2181', '10.0.0.3 2181'], '/solr'],
    ['zk-0.zk-hs.default.svc.cluster.local:2181/kafka', ['zk-0.zk-hs.default.svc.cluster.local 2181'], '/kafka'],
    ['zk1/app@v2', ['zk1 2181'], '/app@v2'],
  ]
  for (const [servers, hosts, chroot = ''] of good) {
    it(`${JSON.stringify(servers)} is ${hosts.join(', ')}${chroot && ` below ${chroot}`}`, () => {
      const parsed = parseConnectString(servers)
      expect(parsed.hosts.map(({ host, port }) => `${host} ${port}`)).to.deep.equal(hosts)
      expect(parsed.chroot).to.equal(chroot)
    })
  }

  const bad: [servers: string, named: string][] = [
    ['', '""'],
    [' ', '""'],
    [',', '""'],
    ['/app', '""'],
    [':', '":"'],
    [':2181', '":2181"'],
    ['zk:0', '"zk:0"'],
    ['zk:65536', '"zk:65536"'],
    ['zk:123456', '"zk:123456"'],
    ['zk:-1', '"zk:-1"'],
    ['zk:port', '"zk:port"'],
    ['cafe:babe', '"cafe:babe"'],
    ['zk:2181:2182', '"zk:2181:2182"'],
    ['cafe:2181:2182', '"cafe:2181:2182"'],
    ['zk1 zk2', '"zk1 zk2"'],
    ['zk1:1,z k', '"z k"'],
    ['zk1;zk2', '"zk1;zk2"'],
    ['zk1|zk2', '"zk1|zk2"'],
    ['${ZK_HOST}:2181', '"${ZK_HOST}:2181"'],
    ['$ZK_HOST', '"$ZK_HOST"'],
    ['{{ zk }}', '"{{ zk }}"'],
    ['%ZK_HOST%:2181', '"%ZK_HOST%:2181"'],
    ['<host>:2181', '"<host>:2181"'],
    ['"zk1"', String.raw`"\"zk1\""`],
    ["'zk1:2181'", '"\'zk1:2181\'"'],
    ['\u200bzk1:2181', 'not host:port'],
    ['*', '"*"'],
    ['[::1', '"[::1"'],
    ['::1]', '"::1]"'],
    ['[]:2181', '"[]:2181"'],
    ['[zk]:2181', '"[zk]:2181"'],
    ['[1:2]:2181', '"[1:2]:2181"'],
    ['[1:2:3:4:5:6:7:8:9]', '"[1:2:3:4:5:6:7:8:9]"'],
    ['1::2::3', '"1::2::3"'],
    ['[::1]2181', '"[::1]2181"'],
    ['zk/app/', '"/app/"'],
    ['zk//app', '"//app"'],
    ['zk/a/../b', '"/a/../b"'],
    ['zk/a,zk2/b/', '"/b/"'],
    ['zk1:2181/a,zk2:2181/b', 'different chroots'],
    ['zk1:2181/a,zk2:2181', 'different chroots'],
    ['zk://zk1:2181/a', 'write zk1:2181/a without zk://'],
    ['http://zk1:2181', 'write zk1:2181 without http://'],
  ]
  for (const [servers, named] of bad) {
    it(`${JSON.stringify(servers)} is rejected with a message that contains “${named}”`, () => {
      expect(() => parseConnectString(servers))
        .to.throw(ZooKeeperError, named)
        .that.includes({ code: 'BADARGUMENTS', fate: 'notSent' })
    })
  }

  // The password is always `secret`, or has a part of it.
  const foreign: [servers: string, written: string][] = [
    // Mesos, Marathon, Chronos, Aurora
    ['zk://user:secret@zk1:2181,zk2:2181/mesos', 'write zk1:2181,zk2:2181/mesos without zk://, and give'],
    ['zk://zk1:2181,zk2:2181,zk3:2181/marathon', 'write zk1:2181,zk2:2181,zk3:2181/marathon without zk://'],
    ['zk://user:secret@zk1', 'write zk1 without zk://, and give the credentials by the option auth'],
    ['zk://zk1,zk://zk2/app', 'write zk1,zk2/app without zk://'],
    ['file:///etc/secret', 'write host:port,host:port/chroot without file://'],
    ['user:secret@zk1', 'must not have credentials: write zk1, and give'],
    ['secret@zk1:2181/app', 'must not have credentials: write zk1:2181/app, and give'],
    ['user:secret@[::1]:2181', 'write [::1]:2181, and give'],
    ['user:secret/secret@zk1:2181', 'credentials'],
    ['user:12/secret@zk1:2181/app', 'credentials'],
    ['user:secret/secret@zk1', 'credentials before an @'],
    ['zk1:port/secret@zk', 'credentials before an @'],
    ['user:secret,secret@zk1:2181/app', 'write zk1:2181/app, and give'],
    ['user:sec@secret@zk1:2181', 'write host:port'],
    ['u:secret@zk1,u:secret@zk2', 'write host:port'],
    ['zk1:2181,u:secret@zk2:2181/app', 'credentials: write host:port,host:port/chroot, and give'],
    ['zk://zk1, u:secret@zk2', 'credentials: write host:port,host:port/chroot without zk://, and give'],
    ['zk://u:s/secret@zk1/app', 'write host:port,host:port/chroot without zk://'],
    ['zk://zk1:2181/apps@secret/b', 'write host:port,host:port/chroot without zk://'],
    ['zk://user:secret?secret@zk1', 'write host:port'],
    ['dns-srv://user:secret@zk.example.org/app', 'write dns-srv://zk.example.org/app, and give'],
    // Dubbo
    ['zookeeper://zk1:2181?backup=zk2:2181,zk3:2181', 'write zk1:2181,zk2:2181,zk3:2181 without zookeeper://'],
    ['zk1:2181?backup=zk2:2181', 'must not have parameters: write zk1:2181,zk2:2181'],
    ['zookeeper://zk1?group=a&backup=zk2&password=secret', 'write zk1,zk2 without zookeeper://'],
    [
      'zookeeper://bob:secret@zk1:2181/dubbo?backup=zk2:2181',
      'write zk1:2181,zk2:2181/dubbo without zookeeper://, and',
    ],
    ['zk1:2181/dubbo?backup=zk2', 'write zk1:2181,zk2/dubbo'],
    ['zk1?password=secret', 'has a part that is not host:port: "zk1?…"'],
    // Kafka, HBase, Hive, Spark, BookKeeper, ClickHouse
    ['SASL_PLAINTEXT://zk1:9092', 'write zk1:9092 without SASL_PLAINTEXT://'],
    ['PLAINTEXT://zk1:9092,SASL_SSL://zk2:9093', 'write zk1:9092,zk2:9093 without PLAINTEXT://'],
    ['SASL_PLAINTEXT://user:secret@zk1:9092/app', 'write zk1:9092/app without SASL_PLAINTEXT://, and give'],
    ['zk1,zk2:2181:/hbase', '"zk2:2181:"'],
    [
      'jdbc:hive2://zk1:2181,zk2:2181/;serviceDiscoveryMode=zooKeeper;user=a;password=secret',
      'write zk1:2181,zk2:2181 without jdbc:hive2://',
    ],
    ['jdbc:hive2://zk1:2181/db;password=secret', 'write zk1:2181/db without jdbc:hive2://'],
    ['zk+null://zk1:2181;zk2:2181/ledgers', 'write zk1:2181,zk2:2181/ledgers without zk+null://'],
    ['spark.deploy.zookeeper.url=zk1:2181', 'has a part that is not host:port'],
    ['zk1;password=secret', 'has a part that is not host:port'],
    ['tcp://zk1:2181', 'write zk1:2181 without tcp://'],
  ]
  for (const [servers, written] of foreign)
    it(`${servers} is rejected with “${written}”, and without a password`, () => {
      for (const text of [servers, ` ${servers} `]) {
        const error = thrownBy(() => parseConnectString(text)) as ZooKeeperError
        expect(error).to.include({ code: 'BADARGUMENTS' })
        expect(error.message).to.include(written)
        const [stack] = String(error.stack).split('\n    at ')
        expect(`${error.message} ${stack ?? ''} ${inspect(Object.entries(error))}`).not.to.match(/sec|12\//)
        const advice = / write (\S+?)(?:,? (?:without|and)|\))/.exec(error.message)?.[1]
        if (advice !== undefined && !advice.startsWith('host:port')) parseConnectString(advice)
      }
    })

  const records: [servers: string, srv: string, chroot?: string][] = [
    ['dns-srv://_zookeeper._tcp.example.org', '_zookeeper._tcp.example.org'],
    ['dns-srv://zk.example.org/app', 'zk.example.org', '/app'],
    [' dns-srv:// zk /app ', 'zk', '/app'],
  ]
  for (const [servers, srv, chroot = ''] of records) {
    it(`${JSON.stringify(servers)} is the name ${srv} of SRV records${chroot && ` below ${chroot}`}`, () => {
      expect(parseConnectString(servers)).to.deep.equal({ hosts: [], srv, chroot })
    })
  }

  for (const name of ['', 'zk:2181', 'a,b', 'a b', '[::1]', ',b'])
    it(`dns-srv://${name} is rejected, because it names no SRV records`, () => {
      expect(() => parseConnectString(`dns-srv://${name}/app`))
        .to.throw(ZooKeeperError, `the connect string names no SRV records: ${JSON.stringify(name)}`)
        .that.includes({ code: 'BADARGUMENTS', fate: 'notSent' })
    })

  it('has no chroot and no SRV records unless it names them', () => {
    expect(parseConnectString('zk')).to.deep.equal({ hosts: [{ host: 'zk', port: 2181 }], chroot: '' })
  })

  it('that was parsed before is not parsed again', () => {
    expect(parseConnectString('zk:1')).to.equal(parseConnectString('zk:1'))
  })

  it('is rejected if it is not a string', () => {
    for (const value of [undefined, null, 2181, ['zk']])
      expect(() => parseConnectString(value as unknown as string))
        .to.throw(ZooKeeperError, `connect string must be a string, not ${typeof value}`)
        .with.property('code', 'BADARGUMENTS')
  })

  it('yields hosts with a valid name and port, or is rejected with BADARGUMENTS', () => {
    const piece = fc.oneof(fc.constantFrom('zk', ':', '[', ']', '::1', ',', '/', '2181', ' ', '%', '.'), fc.string())
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map(all => all.join('')),
        ),
        servers => {
          try {
            const { hosts, chroot } = parseConnectString(servers)
            const isHost = ({ host, port }: (typeof hosts)[number]) =>
              /^[^\s,/[\]]+$/.test(host) && port >= 1 && port <= 65_535
            return hosts.length > 0 && hosts.every(isHost) && (chroot === '' || /^\/.*[^/]$/su.test(chroot))
          } catch (error) {
            return error instanceof ZooKeeperError && error.code === 'BADARGUMENTS'
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
