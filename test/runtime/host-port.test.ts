// Each address that is shown can be pasted into a connect string.
import { inspect } from 'node:util'
import { expect } from 'chai'
import { connect, type ConnectOptions } from '../../src/client/index.ts'
import { hostPortOf, messageOfSystem } from '../../src/runtime/host-port.ts'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { Server } from '../../src/server/index.ts'
import { PermanentError } from '../../src/transport/transport.ts'
import { failureOf } from '../support/settled.ts'

const addresses = ['zk1', '10.0.0.1', '::1', 'fe80::1%eth0', '::ffff:10.0.0.1', '0:0:0:0:0:0:0:1']

describe('an address as text', () => {
  for (const host of addresses)
    it(`of ${host} is the same host in a connect string`, () => {
      const { hosts } = parseConnectString(hostPortOf({ host, port: 2182 }))
      expect(hosts).to.deep.equal([{ host, port: 2182 }])
    })

  it('has brackets in the messages of system errors, and once', () => {
    const error = (message: string, fields = {}) => Object.assign(new Error(message), fields)
    const at = { address: '::1', port: 2181 }
    for (const [message, shown] of [
      ['connect ECONNREFUSED ::1:2181', 'connect ECONNREFUSED [::1]:2181'],
      ['listen EADDRINUSE: address already in use ::1:2181', 'listen EADDRINUSE: address already in use [::1]:2181'],
      ['connect EINVAL ::1:2181 - Local (:::0)', 'connect EINVAL [::1]:2181 - Local ([::]:0)'],
      ['connect ECONNREFUSED [::1]:2181', 'connect ECONNREFUSED [::1]:2181'],
    ] as const)
      expect(messageOfSystem(error(message, at))).to.equal(shown)
    const v4 = error('connect ECONNREFUSED 10.0.0.1:2181', { address: '10.0.0.1', port: 2181 })
    expect(messageOfSystem(v4)).to.equal(v4.message)
    expect(messageOfSystem(error('getaddrinfo ENOTFOUND zk'))).to.equal('getaddrinfo ENOTFOUND zk')
  })

  it('has brackets in all that a client shows: inspect, errors, and onConnectionError', async () => {
    await using server = await Server.start({ listen: false })
    const errors: Error[] = []
    const refused = Object.assign(new Error('connect ECONNREFUSED fd00::1:2181'), {
      ...{ code: 'ECONNREFUSED', address: 'fd00::1', port: 2181 },
    })
    const options: ConnectOptions = {
      dial: server.dial,
      onConnectionError: error => void errors.push(error),
      onUncaughtError: error => void errors.push(error as Error),
    }
    const text = () => errors.map(({ message }) => message).join('\n')
    await using zk = await connect('[fd00::1]:2181', options)
    expect(inspect(zk)).to.include('[fd00::1]:2181')
    server.dropConnections()
    await zk.whenConnected()
    expect(text()).to.include('[fd00::1]:2181')
    for (const cause of [refused, new PermanentError('no')]) {
      const dial: ConnectOptions['dial'] = (_, handler) => {
        queueMicrotask(() => handler.closed(cause))
        return { write: () => undefined, destroy: () => undefined }
      }
      const error = await failureOf(connect('[fd00::1]:2181', { ...options, dial }))
      errors.push(error as Error)
    }
    expect(text(), 'no address without brackets').not.to.match(/(?<!\[)fd00::1/)
    expect(text()).to.include('connect ECONNREFUSED [fd00::1]:2181')
  })
})
