import { expect } from 'chai'
import fc from 'fast-check'
import { ZooKeeperError } from '../../../src/protocol/index.ts'
import { parseConnectString } from '../../../src/session/servers/connect-string.ts'

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
    ['zk,', '""'],
    [',zk', '""'],
    ['/app', '""'],
    ['zk:', '"zk:"'],
    ['cafe:', '"cafe:"'],
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
    ['zk1;zk2:1,z k', '"z k"'],
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
