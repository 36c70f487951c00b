import { expect } from 'chai'
import fc from 'fast-check'
import { isReadableLink, segmentOf } from '../../../src/cli/capture/segment.ts'
import { ipv4, ipv6, linked, links, packetOf } from './packet-of.ts'

const fields = { fromPort: 40_000, toPort: 2181, seq: 0xfffffff0, ack: 7, flags: 'F', payload: Buffer.from('bytes') }
const expected = {
  time: 1.5,
  from: '10.0.0.1:40000',
  to: '10.0.0.2:2181',
  fromPort: 40_000,
  toPort: 2181,
  seq: 0xfffffff0,
  ack: 7,
  isSyn: false,
  isFin: true,
  isReset: false,
  payload: fields.payload,
  cutOff: 0,
}

describe('the segment of a packet', () => {
  for (const [name, linkType] of Object.entries(links)) {
    it(`is found behind the header of a link of type ${name}, over IPv4 and IPv6`, () => {
      expect(isReadableLink(linkType)).to.equal(true)
      expect(segmentOf(packetOf(linked(linkType, ipv4(fields)), linkType))).to.deep.equal(expected)
      const sixth = { ...expected, from: '[::1]:40000', to: '[::1]:2181' }
      expect(segmentOf(packetOf(linked(linkType, ipv6(fields)), linkType))).to.deep.equal(sixth)
    })
  }

  it('is found behind the tags of one VLAN or two', () => {
    for (const vlans of [1, 2]) {
      const bytes = linked(links.ethernet, ipv4(fields), vlans)
      expect(segmentOf(packetOf(bytes, links.ethernet))).to.deep.equal(expected)
    }
  })

  it('has the flags of an opening and of a reset, and no ack unless the flag ACK is set', () => {
    const segment = segmentOf(packetOf(ipv4({ fromPort: 1, toPort: 2, seq: 3, flags: 'SR' })))
    expect(segment).to.include({ isSyn: true, isReset: true, isFin: false, ack: undefined })
  })

  it('does not include the padding that Ethernet adds to short packets', () => {
    const padded = Buffer.concat([
      linked(links.ethernet, ipv4({ ...fields, payload: Buffer.alloc(0) })),
      Buffer.alloc(6),
    ])
    expect(segmentOf(packetOf(padded, links.ethernet))).to.deep.include({ payload: Buffer.alloc(0), cutOff: 0 })
  })

  it('says how many bytes the limit of the capture has cut off', () => {
    const bytes = linked(links.ethernet, ipv4(fields)).subarray(0, -3)
    expect(segmentOf(packetOf(bytes, links.ethernet))).to.deep.include({ payload: Buffer.from('by'), cutOff: 3 })
  })

  it('has all bytes of a packet whose length is 0, because the network card was to cut it', () => {
    const bytes = ipv4(fields)
    bytes.writeUInt16BE(0, 2)
    expect(segmentOf(packetOf(bytes))).to.deep.equal(expected)
  })

  it('is missing in other protocols, in fragments, and in packets that are too short', () => {
    expect(segmentOf(packetOf(ipv4(fields, { protocol: 17 })))).to.equal('other')
    expect(segmentOf(packetOf(Buffer.from('0806', 'hex'), links.cooked2))).to.equal('other')
    expect(segmentOf(packetOf(Buffer.alloc(60), 147))).to.equal('other')
    expect(isReadableLink(147)).to.equal(false)
    expect(segmentOf(packetOf(ipv4(fields, { fragment: 0x2000 })))).to.equal('fragment')
    expect(segmentOf(packetOf(ipv4(fields, { fragment: 8 })))).to.equal('fragment')
    expect(segmentOf(packetOf(ipv4(fields).subarray(0, 30)))).to.equal('malformed')
  })

  it('never throws, for any bytes', () => {
    const linkTypes = fc.constantFrom(...Object.values(links))
    fc.assert(
      fc.property(linkTypes, fc.constantFrom('', '45', '60'), fc.uint8Array(), (linkType, start, bytes) => {
        const ip = Buffer.concat([Buffer.from(start, 'hex'), bytes, Buffer.alloc(1)])
        void segmentOf(packetOf(linked(linkType, ip), linkType))
        void segmentOf(packetOf(Buffer.from(bytes), linkType))
      }),
    )
  })
})
