// ACLs as text, in the spellings of other people's instructions.
import { expect } from 'chai'
import { aclEntriesOf, aclFrom, aclText, uselessIn } from '../../../src/cli/nodes/acl-text.ts'
import { digest } from '../../../src/index.ts'

const hash = digest('bob', 'secret').split(':')[1] ?? ''

describe('an ACL as text', () => {
  for (const [text, ...entries] of [
    // ZooKeeper's guide, and Solr, Hive, HBase, Kafka, NiFi, Ranger
    ['world:anyone:r', 'world:anyone:r'],
    ['sasl:bob:cdrwa,world:anyone:r', 'sasl:bob:cdrwa', 'world:anyone:r'],
    ['sasl:solr:cdrwa,world:anyone:r', 'sasl:solr:cdrwa', 'world:anyone:r'],
    ['sasl:hive:cdrwa,world:anyone:r', 'sasl:hive:cdrwa', 'world:anyone:r'],
    [
      'sasl:hive/host.example.org@EXAMPLE.ORG:cdrwa,world:anyone:r',
      'sasl:hive/host.example.org@EXAMPLE.ORG:cdrwa',
      'world:anyone:r',
    ],
    ['world:anyone:r,sasl:hbase:cdrwa', 'world:anyone:r', 'sasl:hbase:cdrwa'],
    ['sasl:kafka:cdrwa,sasl:nifi:cdrwa', 'sasl:kafka:cdrwa', 'sasl:nifi:cdrwa'],
    ['auth::cdrwa,world:anyone:r', 'auth::cdrwa', 'world:anyone:r'],
    ['auth:bob:cdrwa', 'auth:bob:cdrwa'],
    [`digest:bob:${hash}:cdrwa,digest:x:${hash}:r`, `digest:bob:${hash}:cdrwa`, `digest:x:${hash}:r`],
    ['ip:10.0.0.0/8:r,ip:127.0.0.1:cdrwa', 'ip:10.0.0.0/8:r', 'ip:127.0.0.1:cdrwa'],
    ['ip:fd00::1:cdrwa,world:anyone:r', 'ip:fd00::1:cdrwa', 'world:anyone:r'],
    ['ip:::1:r,ip:fd00::c/64:cd', 'ip:::1:r', 'ip:fd00::c/64:cd'],
    ['ip:fe80::dead:c:r,ip:0:0:0:0:0:0:0:1:a', 'ip:fe80::dead:c:r', 'ip:0:0:0:0:0:0:0:1:a'],
    ['x509:CN=a,OU=b:cdrwa', 'x509:CN=a,OU=b:cdrwa'],
    ['x509:CN=a,OU=b,O=c:r,x509:CN=d,OU=e:cdrwa', 'x509:CN=a,OU=b,O=c:r', 'x509:CN=d,OU=e:cdrwa'],
    ['world:anyone:r,x509:CN=a\\, b,OU=c:cdrwa', 'world:anyone:r', 'x509:CN=a\\, b,OU=c:cdrwa'],
    ['super:admin:cdrwa, world:anyone:r', 'super:admin:cdrwa', 'world:anyone:r'],
    ['world:anyone:r,', 'world:anyone:r'],
    [' , world:anyone:r', 'world:anyone:r'],
    ['world:anyone:,auth::a', 'world:anyone:', 'auth::a'],
  ] as [string, ...string[]][])
    it(`${text} has ${entries.length} entries`, () => {
      expect(aclEntriesOf(text)?.map(aclText)).to.deep.equal(entries)
    })

  for (const text of [
    '',
    ',',
    'world',
    'world:anyone',
    'world:anyone:rx',
    'world:anyone:r,nobody',
    'ip:fd00::a',
    'ip:fd00::a,auth::r',
  ])
    it(`${JSON.stringify(text)} is malformed`, () => {
      expect(aclEntriesOf(text)).to.equal(undefined)
    })

  it('is refused without --force if an entry grants nothing, and the message has no password', () => {
    for (const text of [
      'world:anyone:',
      'sasl:bob:,world:anyone:r',
      'world:everyone:r',
      'digest:bob:secret:cdrwa',
      'digest:bob:x:cdrwa',
      'digest:bob:c2VjcmV0:r',
      'world:anyone:r,digest:bob:secret:a',
      'sasl:bob:cdrwax,world:anyone:cdrwa',
      'sasl:bob:cdrwa;world:anyone:cdrwa',
      'sasl:bob:cdrwa world:anyone:cdrwa',
      'auth::cdrwa;world:anyone:cdrwa',
      'sasl:amy,sasl:bob:cdrwa',
      'x509:CN=a,OU=b,x509:CN=c,OU=d:cdrwa',
    ]) {
      expect(() => aclFrom([text], false), text)
        .to.throw(/grants nothing, because .*--force/)
        .with.property('message')
        .that.does.not.match(/secret:|c2Vj/)
      expect(aclFrom([text], true)).to.deep.equal(aclEntriesOf(text))
    }
    expect(() => aclFrom(['digest:bob:secret'], false)).to.throw(/digest:bob:…/)
  })

  it('is not refused for a hash of any algorithm of the servers', () => {
    for (const bytes of [16, 20, 32, 48, 64]) {
      const id = `bob:${Buffer.alloc(bytes, 7).toString('base64')}`
      expect(uselessIn([{ perms: 1, id: { scheme: 'digest', id } }])).to.equal(undefined)
    }
    expect(uselessIn(aclFrom(['creator', 'read', 'open', 'sasl:bob:a'], false))).to.equal(undefined)
  })
})
