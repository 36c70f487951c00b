import { expect } from 'chai'
import {
  FailedAttempts,
  failureOfHandshake,
  failureToOpen,
  temporary,
  type AttemptFailure,
} from '../../../src/session/servers/failed-attempts.ts'
import { PermanentError } from '../../../src/transport/transport.ts'

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
  it('expects a server soon, unless the error is permanent', () => {
    expect(failureToOpen(new Error('proxy failed'))).to.deep.equal({
      detail: 'the connection could not be opened (proxy failed)',
      outlook: 'temporary',
    })
    expect(failureToOpen(new PermanentError('no proxy'))).to.deep.equal({ detail: 'no proxy', outlook: 'permanent' })
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
