import { expect } from 'chai'
import { failureOfSystem } from '../../../src/session/servers/system-failures.ts'
import { PermanentError } from '../../../src/transport/transport.ts'

const systemError = (code: string, message = `connect ${code} 127.0.0.1:1`) =>
  Object.assign(new Error(message), { code })

describe('failureOfSystem', () => {
  it('says that no server is there if the address refuses the connection or is unknown', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENODATA'])
      expect(failureOfSystem(systemError(code))).to.have.property('outlook', 'absent')
    expect(failureOfSystem(systemError('ECONNREFUSED')).detail).to.equal(
      'connection refused (connect ECONNREFUSED 127.0.0.1:1)',
    )
  })

  it('expects a server soon after any other error', () => {
    for (const error of [systemError('ETIMEDOUT'), systemError('EMFILE'), new Error('proxy failed')])
      expect(failureOfSystem(error)).to.deep.equal({
        detail: `the connection could not be opened (${error.message})`,
        outlook: 'temporary',
      })
  })

  it('says that the server closed the connection if it did so at once, as one does that has reached maxClientCnxns', () => {
    for (const code of ['ECONNRESET', 'EPIPE'])
      expect(failureOfSystem(systemError(code))).to.deep.equal({
        detail: `the server closed the connection before the end of the handshake (connect ${code} 127.0.0.1:1)`,
        outlook: 'temporary',
      })
  })

  it('names each address of a name, and expects a server soon if one address only timed out', () => {
    const at = { address: '::1', port: 1 }
    const refused = Object.assign(systemError('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'), at)
    const both = new AggregateError([refused, systemError('ECONNREFUSED')], '')
    expect(failureOfSystem(both)).to.deep.equal({
      detail: 'connection refused (connect ECONNREFUSED [::1]:1, connect ECONNREFUSED 127.0.0.1:1)',
      outlook: 'absent',
    })
    const mixed = new AggregateError([refused, systemError('ETIMEDOUT')], '')
    expect(failureOfSystem(mixed)).to.deep.equal({
      detail: 'the connection could not be opened (connect ECONNREFUSED [::1]:1, connect ETIMEDOUT 127.0.0.1:1)',
      outlook: 'temporary',
    })
  })

  it('takes an error of the dial that is permanent as it is', () => {
    expect(failureOfSystem(new PermanentError('no proxy'))).to.deep.equal({ detail: 'no proxy', outlook: 'permanent' })
  })
})
