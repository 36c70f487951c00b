// Server.start(): its options, and a port that is in use.
import { expect } from 'chai'
import { digest, ZooKeeperError } from '../../src/index.ts'
import * as exported from '../../src/server/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'

describe('starting an embedded server', () => {
  it('rejects a superDigest that can never match, and does not show it', async () => {
    const right = digest('super', 'secret')
    const hash = right.slice('super:'.length)
    const line = `-Dzookeeper.DigestAuthenticationProvider.superDigest=${right}`
    const others = ['secret', 'super:secret', line, hash, `${right} `, `super:${hash.slice(1)}`, `super:super:${hash}`]
    for (const superDigest of [...others, `super:${'A'.repeat(28)}`, `super:${'A'.repeat(26)}B=`]) {
      const error = (await failureOf(Server.start({ listen: false, superDigest }))) as Error
      expect(error, superDigest).to.include({ code: 'BADARGUMENTS' })
      expect(error.message).to.include("digest('super', password)").and.not.include('secret').and.not.include(hash)
    }
    for (const superDigest of [right, '']) await (await Server.start({ listen: false, superDigest })).close()
  })

  describe('rejects with BADARGUMENTS:', () => {
    const mistakes: readonly (readonly [options: unknown, problem: string])[] = [
      [{ tickTime: 0 }, 'tickTime must be a whole number from 1 to 2147483647, not 0'],
      [{ tickTime: 2 ** 30 }, 'minSessionTimeout must be a whole number from 1 to 2147483647, not 2147483648'],
      [{ maxRequestBytes: 1.5 }, 'maxRequestBytes must be a whole number from 1 to 2147483647, not 1.5'],
      [{ minSessionTimeout: 10, maxSessionTimeout: 9 }, 'minSessionTimeout 10 is greater than maxSessionTimeout 9'],
      [{ port: 70_000 }, 'port must be a whole number from 0 to 65535, not 70000'],
      [{ port: 65_534, servers: 3 }, 'port 65534 and the next ones are too few for 3 servers: the last port is 65535'],
      [{ host: null }, 'host must be a string, not null'],
      [{ listen: 'no' }, 'listen must be true or false, not a string'],
      [{ onTransaction: {} }, 'onTransaction must be a function, not an object'],
      [{ clock: {} }, 'clock must be a Clock, not an object'],
      [{ tickTimes: 1000 }, "there is no option 'tickTimes'; did you mean 'tickTime'?"],
      [{ maxBuffer: 1000, tickTime: 0 }, "there is no option 'maxBuffer'"],
      [{ extendedtypes: true }, "there is no option 'extendedtypes'; did you mean 'extendedTypes'?"],
      [2181, 'options must be an object, not 2181'],
    ]
    for (const [options, problem] of mistakes)
      it(`“${problem}”`, async () => {
        const error = await failureOf(Server.start(options as ServerOptions))
        expect(error).to.be.instanceOf(ZooKeeperError)
        expect(error).to.include({ code: 'BADARGUMENTS', op: 'Server.start', fate: 'notSent' })
        expect(String(error)).to.include(`(${problem}`)
      })
  })

  it('treats undefined options as omitted ones', async () => {
    await using server = await Server.start({ listen: false, tickTime: undefined })
    expect(server.port).to.equal(0)
  })

  it('rejects with EADDRINUSE if its port is in use', async () => {
    await using server = await Server.start()
    expect(await failureOf(Server.start({ port: server.port }))).to.include({ code: 'EADDRINUSE' })
  })

  it('is the only way to get a server and its faults: the module exports no other classes', () => {
    expect(Object.keys(exported)).to.have.members(['Server'])
  })
})
