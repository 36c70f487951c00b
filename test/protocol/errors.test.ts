import { expect } from 'chai'
import { codeOf, errnos, MultiError, ZooKeeperError, type ErrorCode } from '../../src/protocol/index.ts'

// That names and numbers are ZooKeeper's is shown in java.test.ts.
describe('errors', () => {
  it('have a number for each name and a name for each number', () => {
    const numbers = Object.values(errnos)
    expect(new Set(numbers).size).to.equal(numbers.length)
    for (const [code, errno] of Object.entries(errnos)) expect(codeOf(errno)).to.equal(code)
    expect(errnos.NONODE).to.equal(-101)
  })

  it('are UNKNOWN where nobody knows the number, and keep it', () => {
    for (const errno of [1, -9, -999, 0x7fff_ffff, -0x8000_0000]) {
      expect(codeOf(errno)).to.equal('UNKNOWN')
      const error = new ZooKeeperError(codeOf(errno), { errno, fate: 'refused' })
      expect([error.code, error.errno]).to.deep.equal(['UNKNOWN', errno])
    }
  })

  it('say what failed, where, and what that means', () => {
    const error = new ZooKeeperError('NONODE', { op: 'getData', path: '/a', fate: 'refused' })
    expect(error.message).to.equal('NONODE: getData /a: the node does not exist')
    expect(error).to.be.an.instanceOf(Error)
    expect(error).to.include({
      name: 'ZooKeeperError',
      code: 'NONODE',
      errno: -101,
      op: 'getData',
      path: '/a',
      fate: 'refused',
    })
  })

  it('do without an operation, a path, or both', () => {
    const messageOf = (context: { op?: string; path?: string }) =>
      new ZooKeeperError('CLOSED', { ...context, fate: 'notSent' }).message
    expect(messageOf({})).to.equal('CLOSED: the client is closed')
    expect(messageOf({ op: 'sync' })).to.equal('CLOSED: sync: the client is closed')
    expect(messageOf({ path: '/a' })).to.equal('CLOSED: /a: the client is closed')
    expect(new ZooKeeperError('CLOSED', { fate: 'notSent' })).to.include({ op: '', path: '', errno: 0 })
  })

  it('say a detail behind the meaning, and keep a cause', () => {
    const cause = new Error('ECONNRESET')
    const error = new ZooKeeperError('CONNECTIONLOSS', { op: 'create', fate: 'unknown', detail: 'at zk1:2181', cause })
    expect(error.message).to.equal('CONNECTIONLOSS: create: the connection to the server was lost (at zk1:2181)')
    expect(error.cause).to.equal(cause)
    expect(new ZooKeeperError('CLOSED', { fate: 'notSent' })).to.not.have.property('cause')
  })

  it('have a meaning each', () => {
    const own: ErrorCode[] = [
      'CLOSED',
      'PROTOCOL',
      'REQUESTTOOLARGE',
      'REPLYTOOLARGE',
      'TOOMANYPENDING',
      'CONNECTTIMEOUT',
      'UNKNOWN',
    ]
    const messages = [...(Object.keys(errnos) as ErrorCode[]), ...own].map(
      code => new ZooKeeperError(code, { fate: 'refused' }).message,
    )
    for (const message of messages) expect(message).to.match(/^[A-Z]+: [a-z][^:]{9,}$/)
    expect(new Set(messages.map(message => message.replace(/^.*: /, ''))).size).to.equal(messages.length)
  })

  it('of a multi tell how each of its operations fared', () => {
    const results = [
      { code: 'OK', errno: 0 },
      { code: 'NONODE', errno: -101 },
      { code: 'RUNTIMEINCONSISTENCY', errno: -2 },
    ] as const
    const error = new MultiError('NONODE', { op: 'delete', path: '/a', fate: 'refused' }, results)
    expect(error).to.be.an.instanceOf(ZooKeeperError)
    expect(error).to.include({ name: 'MultiError', code: 'NONODE', errno: -101, op: 'delete', path: '/a' })
    expect(error.results).to.deep.equal(results)
    expect(String(error)).to.equal('MultiError: NONODE: delete /a: the node does not exist')
  })
})
