import { expect } from 'chai'
import {
  badArguments,
  codeOf,
  errnos,
  isCode,
  JuteError,
  MultiError,
  ZooKeeperError,
  type ErrorCode,
} from '../../src/protocol/index.ts'

// java.test.ts checks that names and numbers are ZooKeeper's.
describe('errors', () => {
  it('have one number per code and one code per number', () => {
    const numbers = Object.values(errnos)
    expect(new Set(numbers).size).to.equal(numbers.length)
    for (const [code, errno] of Object.entries(errnos)) expect(codeOf(errno)).to.equal(code)
    expect(errnos.NONODE).to.equal(-101)
  })

  it('are UNKNOWN and keep the number if no code has it', () => {
    for (const errno of [1, -9, -999, 0x7fff_ffff, -0x8000_0000]) {
      expect(codeOf(errno)).to.equal('UNKNOWN')
      const error = new ZooKeeperError(codeOf(errno), { errno, fate: 'refused' })
      expect([error.code, error.errno]).to.deep.equal(['UNKNOWN', errno])
    }
  })

  it('have a short message for a long path, which they keep', () => {
    const path = `/${'x'.repeat(2_000_000)}`
    const error = new ZooKeeperError('REQUESTTOOLARGE', { op: 'create', path, fate: 'notSent' })
    expect(error.message).to.match(/^REQUESTTOOLARGE: create \/x{999}… \(2000001 characters\): /)
    expect(error.message.length).to.be.below(1200)
    expect(error.path).to.equal(path)
  })

  it('have a message with the code, the operation, the path and the meaning', () => {
    const error = new ZooKeeperError('NONODE', { op: 'getData', path: '/a', fate: 'refused' })
    expect(error.message).to.equal('NONODE: getData /a: the node, or the parent of a node to create, does not exist')
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

  it('of invalid arguments say which, and that nothing was sent', () => {
    const error = badArguments('create', '/a', 'a path is wrong')
    expect(error).to.include({ code: 'BADARGUMENTS', op: 'create', path: '/a', fate: 'notSent' })
    expect(error.message).to.equal('BADARGUMENTS: create /a: an argument is invalid (a path is wrong)')
  })

  it('of malformed bytes have a name of their own', () => {
    expect(String(new JuteError('a vector of -5 elements'))).to.equal('JuteError: a vector of -5 elements')
  })

  it('are recognized by one of several codes', () => {
    const error = new ZooKeeperError('NONODE', { fate: 'refused' })
    expect(isCode(error, 'NOAUTH', 'NONODE')).to.equal(true)
    expect(isCode(error, 'NOAUTH')).to.equal(false)
    expect(isCode(Object.assign(new Error('x'), { code: 'NONODE' }), 'NONODE')).to.equal(false)
    expect(isCode(undefined, 'NONODE')).to.equal(false)
  })

  it('omit the operation, the path, or both from the message if they are missing', () => {
    const messageOf = (context: { op?: string; path?: string }) =>
      new ZooKeeperError('CLOSED', { ...context, fate: 'notSent' }).message
    expect(messageOf({})).to.equal('CLOSED: the client or the recipe is closed')
    expect(messageOf({ op: 'sync' })).to.equal('CLOSED: sync: the client or the recipe is closed')
    expect(messageOf({ path: '/a' })).to.equal('CLOSED: /a: the client or the recipe is closed')
    expect(new ZooKeeperError('CLOSED', { fate: 'notSent' })).to.include({ op: '', path: '', errno: 0 })
  })

  it('append a detail to the meaning, and keep a cause', () => {
    const cause = new Error('ECONNRESET')
    const error = new ZooKeeperError('CONNECTIONLOSS', { op: 'create', fate: 'unknown', detail: 'at zk1:2181', cause })
    expect(error.message).to.equal(
      'CONNECTIONLOSS: create: the connection to the server was lost; if error.fate is unknown, the request may have been executed (at zk1:2181)',
    )
    expect(error.cause).to.equal(cause)
    expect(new ZooKeeperError('CLOSED', { fate: 'notSent' })).to.not.have.property('cause')
  })

  it('have a different meaning for each code', () => {
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

  it('of a multi have a result for each operation', () => {
    const results = [
      { code: 'OK', errno: 0 },
      { code: 'NONODE', errno: -101 },
      { code: 'RUNTIMEINCONSISTENCY', errno: -2 },
    ] as const
    const error = new MultiError('NONODE', { op: 'delete', path: '/a', fate: 'refused' }, results)
    expect(error).to.be.an.instanceOf(ZooKeeperError)
    expect(error).to.include({ name: 'MultiError', code: 'NONODE', errno: -101, op: 'delete', path: '/a' })
    expect(error.results).to.deep.equal(results)
    expect(String(error)).to.equal(
      'MultiError: NONODE: delete /a: the node, or the parent of a node to create, does not exist',
    )
  })
})
