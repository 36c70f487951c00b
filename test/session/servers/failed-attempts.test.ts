import { expect } from 'chai'
import {
  FailedAttempts,
  failureOfHandshake,
  failureToOpen,
  temporary,
  type AttemptFailure,
} from '../../../src/session/servers/failed-attempts.ts'

const systemError = (code: string, message = `connect ${code} 127.0.0.1:1`) =>
  Object.assign(new Error(message), { code })
const absent: AttemptFailure = { detail: 'connection refused', outlook: 'absent' }
const permanent: AttemptFailure = { detail: 'TLS', outlook: 'permanent' }

describe('FailedAttempts', () => {
  it('has the best outlook of all servers, and a temporary one while a server was not tried', () => {
    const failed = new FailedAttempts()
    failed.add('a', permanent)
    expect(failed.outlookOf(['a'])).to.equal('permanent')
    expect(failed.outlookOf(['a', 'b'])).to.equal('temporary')
    failed.add('b', absent)
    expect(failed.outlookOf(['a', 'b'])).to.equal('absent')
    failed.add('a', temporary('busy'))
    expect(failed.outlookOf(['a', 'b'])).to.equal('temporary')
    expect(failed.outlookOf(['b'])).to.equal('absent')
  })

  it('notices that no server answers, although a handshake may have arrived', () => {
    const failed = new FailedAttempts()
    const silent = (unanswered: AttemptFailure['unanswered']) => ({ ...temporary('silent'), unanswered })
    failed.add('a', absent)
    expect(failed.areSilent(['a'])).to.equal(false)
    failed.add('b', silent('connection'))
    expect(failed.areSilent(['a', 'b'])).to.equal(false)
    failed.add('c', silent('handshake'))
    expect(failed.areSilent(['a', 'b', 'c'])).to.equal(true)
    expect(failed.areSilent(['a', 'b', 'c', 'not tried'])).to.equal(false)
    failed.add('a', temporary('closed the connection'))
    expect(failed.areSilent(['a', 'b', 'c'])).to.equal(false)
  })

  it('describes the last failure of each server, the number of attempts, and the servers without one', () => {
    const failed = new FailedAttempts()
    failed.add('a', temporary('busy'))
    failed.add('a', absent)
    failed.add('removed', permanent)
    expect(failed.describe(['a', 'b', 'c'], 'b')).to.equal(
      'a: connection refused, 2 attempts; removed: TLS; b: no answer yet; c: not tried yet',
    )
  })
})

describe('failureToOpen', () => {
  it('says that no server is there if the address refuses the connection or is unknown', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENODATA'])
      expect(failureToOpen(systemError(code))).to.have.property('outlook', 'absent')
    expect(failureToOpen(systemError('ECONNREFUSED')).detail).to.equal(
      'connection refused (connect ECONNREFUSED 127.0.0.1:1)',
    )
  })

  it('expects a server soon after any other error', () => {
    for (const error of [systemError('ETIMEDOUT'), systemError('EMFILE'), new Error('proxy failed')])
      expect(failureToOpen(error)).to.deep.equal({
        detail: `the connection could not be opened (${error.message})`,
        outlook: 'temporary',
      })
  })

  it('says that the server closed the connection if it did so at once, as one does that has reached maxClientCnxns', () => {
    for (const code of ['ECONNRESET', 'EPIPE'])
      expect(failureToOpen(systemError(code))).to.deep.equal({
        detail: `the server closed the connection before the end of the handshake (connect ${code} 127.0.0.1:1)`,
        outlook: 'temporary',
      })
  })

  it('names each address of a name, and expects a server soon if one address only timed out', () => {
    const at = { address: '::1', port: 1 }
    const refused = Object.assign(systemError('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'), at)
    const both = new AggregateError([refused, systemError('ECONNREFUSED')], '')
    expect(failureToOpen(both)).to.deep.equal({
      detail: 'connection refused (connect ECONNREFUSED [::1]:1, connect ECONNREFUSED 127.0.0.1:1)',
      outlook: 'absent',
    })
    const mixed = new AggregateError([refused, systemError('ETIMEDOUT')], '')
    expect(failureToOpen(mixed)).to.deep.equal({
      detail: 'the connection could not be opened (connect ECONNREFUSED [::1]:1, connect ETIMEDOUT 127.0.0.1:1)',
      outlook: 'temporary',
    })
  })
})

describe('failureOfHandshake', () => {
  it('quotes the first line of a server of another kind', () => {
    const http = failureOfHandshake(Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n'), '')
    expect(http).to.deep.equal({
      detail: 'not a ZooKeeper server: it answered "HTTP/1.1 400 Bad Request"',
      outlook: 'absent',
    })
    expect(failureOfHandshake(Buffer.from(`-ERR ${'x'.repeat(1000)}`), '').detail).to.have.length.below(120)
  })

  it('expects a ZooKeeper server to recover from a malformed answer, and shows none of its bytes', () => {
    for (const answer of [Buffer.from([0, 0, 0, 1, 65]), Buffer.from('\0\0\0\x04text')])
      expect(failureOfHandshake(answer, 'a frame of 1 byte')).to.deep.equal({
        detail: 'the server sent a frame of 1 byte',
        outlook: 'temporary',
      })
  })
})
