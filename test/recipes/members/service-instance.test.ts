import { expect } from 'chai'
import { uriOf } from '../../../src/recipes/index.ts'
import {
  decodeInstance,
  encodeInstance,
  parseUriSpec,
  type ServiceInstance,
} from '../../../src/recipes/members/service-instance.ts'

// Written by ServiceDiscovery of Curator 5.4 with the payload class of Spring Cloud.
const JAVA =
  '{"name":"api","id":"8d4c","address":"10.0.0.7","port":8080,"sslPort":8443,"payload":{"@class":"org.example.Payload",' +
  '"weight":3},"registrationTimeUTC":1700000000000,"serviceType":"DYNAMIC","uriSpec":{"parts":[{"value":"scheme",' +
  '"variable":true},{"value":"://","variable":false},{"value":"address","variable":true},{"value":":","variable":false},' +
  '{"value":"port","variable":true}]}}'

describe('The JSON of a service instance', () => {
  it('is decoded and encoded again without a change', () => {
    expect(encodeInstance(decodeInstance(Buffer.from(JAVA)))).to.equal(JAVA)
    expect(encodeInstance(decodeInstance(Buffer.from(`\ufeff${JAVA}`)))).to.equal(JAVA)
    const disabled = JAVA.replace(/\}$/, ',"enabled":false}')
    expect(encodeInstance(decodeInstance(Buffer.from(disabled)))).to.equal(disabled)
  })

  it('may have anything behind it, which Jackson does not read', () => {
    const strange = JAVA.replace('"address":"10.0.0.7"', String.raw`"address":"}\"}{"`)
    for (const json of [JAVA, strange])
      for (const rest of ['\0', '\n', ' {"id":"other"}', 'garbage', '}', ']'])
        expect(decodeInstance(Buffer.from(json + rest)), rest).to.deep.equal(decodeInstance(Buffer.from(json)))
    for (const json of ['', '\0', JAVA.slice(0, -1), `\0${JAVA}`, `[${JAVA}]`, '"}"', '}{'])
      expect(() => decodeInstance(Buffer.from(json)), json).to.throw()
  })

  it('may lack all properties but name and id', () => {
    expect(decodeInstance(Buffer.from('{"name":"n","id":"i","serviceType":"NEW","uriSpec":5}'))).to.deep.equal({
      name: 'n',
      id: 'i',
      address: null,
      port: null,
      sslPort: null,
      payload: null,
      registrationTimeUTC: 0,
      serviceType: 'DYNAMIC',
      uriSpec: null,
      enabled: true,
    })
  })

  const decoded = (properties: string) => decodeInstance(Buffer.from(`{"name":"n","id":"i",${properties}}`))

  // What each line gives was tried on Curator 5.4 with Jackson 2.14.
  for (const [json, expected] of [
    ['"port":"8080"', { port: 8080 }],
    ['"port":" 8080 ","sslPort":"+8443"', { port: 8080, sslPort: 8443 }],
    ['"port":"","sslPort":"null"', { port: null, sslPort: null }],
    ['"port":"-1","sslPort":8443.9', { port: -1, sslPort: 8443 }],
    ['"enabled":"false"', { enabled: false }],
    ['"enabled":"FALSE"', { enabled: false }],
    ['"enabled":" false "', { enabled: false }],
    ['"enabled":""', { enabled: false }],
    ['"enabled":null', { enabled: false }],
    ['"enabled":0', { enabled: false }],
    ['"enabled":1', { enabled: true }],
    ['"enabled":"True"', { enabled: true }],
    ['"registrationTimeUTC":"17"', { registrationTimeUTC: 17 }],
    ['"serviceType":1', { serviceType: 'STATIC' }],
    ['"serviceType":"3"', { serviceType: 'DYNAMIC_SEQUENTIAL' }],
    ['"serviceType":" STATIC "', { serviceType: 'STATIC' }],
    ['"address":5', { address: '5' }],
    ['"id":5,"name":false', { id: '5', name: 'false' }],
  ] as const)
    it(`reads ${json} as Curator does`, () => expect(decoded(json)).to.include(expected))

  for (const json of ['"port":"abc"', '"port":"0x50"', '"port":true', '"sslPort":{}', '"enabled":"no"', '"enabled":[]'])
    it(`refuses ${json} as Curator does`, () => expect(() => decoded(json)).to.throw(/must be/))

  it('reads the parts of a URI as Curator does, and leaves out null', () => {
    const parts =
      '[null,{"value":"a","variable":"false"},{"value":5},{"value":"id","variable":"true"},{"variable":true}]'
    const instance = decoded(`"uriSpec":{"parts":${parts}}`)
    expect(uriOf(instance)).to.equal('a5i')
    expect(instance.uriSpec?.parts[0]).to.deep.equal({ value: 'a', variable: false })
  })

  it('gives the URI of the instance', () => {
    const java = decodeInstance(Buffer.from(JAVA))
    expect(uriOf(java)).to.equal('https://10.0.0.7:8080')
    const plain = (spec: string): ServiceInstance => ({ ...java, sslPort: null, uriSpec: parseUriSpec(spec) ?? null })
    expect(uriOf(plain('{scheme}://{address}:{ port }/{[}{name}{]}{none}?{x}'), { x: 'y' })).to.equal(
      'http://10.0.0.7:8080/{api}?y',
    )
    expect(uriOf({ ...java, uriSpec: null })).to.equal('')
    for (const spec of ['{', 'a}', '{a{b}}']) expect(parseUriSpec(spec), spec).to.equal(undefined)
  })
})
