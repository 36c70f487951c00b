import { expect } from 'chai'
import fc from 'fast-check'
import { Server } from 'node:net'
import { connect } from '../../src/index.ts'
import * as embedded from '../../src/server/index.ts'
import { expandAddress } from '../../src/transport/listen.ts'

describe('a listener', () => {
  it('goes on after the system could not accept a connection', async () => {
    const prototype = Server.prototype as { listen: (this: Server, ...args: unknown[]) => unknown }
    const { listen } = prototype
    const listening: Server[] = []
    prototype.listen = function (...args) {
      listening.push(this)
      return listen.apply(this, args)
    }
    await using server = await embedded.Server.start().finally(() => (prototype.listen = listen))
    listening[0]?.emit('error', new Error('accept ENOBUFS'))
    await using client = await connect(server.connectString)
    expect(await client.exists('/missing')).to.equal(null)
  })
})

describe('expandAddress', () => {
  it('writes all eight numbers of an IPv6 address, as Java does', () => {
    const written: Record<string, string> = {
      '::1': '0:0:0:0:0:0:0:1',
      '::': '0:0:0:0:0:0:0:0',
      'fe80::1:2%eth0': 'fe80:0:0:0:0:0:1:2%eth0',
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2:3:4:5:6',
      '127.0.0.1': '127.0.0.1',
      '::ffff:127.0.0.1': '127.0.0.1',
      '': '',
    }
    for (const [address, full] of Object.entries(written)) expect(expandAddress(address), address).to.equal(full)
  })

  it('returns the same address in a longer form, for all addresses', () => {
    const number = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(0xffff))
    // The URL parser writes the shortest form.
    const brief = (address: string) => new URL(`http://[${address}]/`).hostname.slice(1, -1)
    fc.assert(
      fc.property(fc.array(number, { minLength: 8, maxLength: 8 }), numbers => {
        const full = numbers.map(each => each.toString(16)).join(':')
        expect(expandAddress(brief(full))).to.equal(full)
      }),
    )
  })
})
