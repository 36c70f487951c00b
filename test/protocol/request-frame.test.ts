import { expect } from 'chai'
import { JuteError, operations, Writer } from '../../src/protocol/index.ts'
import { encodeRequest } from '../../src/protocol/request-frame.ts'
import { requestFrame } from './frame-of.ts'

describe('a request frame', () => {
  const body = { path: '/a', watch: true }
  const whole = requestFrame(7, operations.getData, body)

  it('is its length, the header and the body', () => {
    const writer = new Writer()
    encodeRequest(writer, 7, operations.getData, body, 1000)
    expect(Buffer.from(writer.take())).to.deep.equal(whole)
  })

  it('is appended to the frames before it', () => {
    const writer = new Writer()
    for (let i = 0; i < 2; i++) encodeRequest(writer, 7, operations.getData, body, 1000)
    expect(Buffer.from(writer.take())).to.deep.equal(Buffer.concat([whole, whole]))
  })

  it('may be as long as the limit, and is not appended if it is longer', () => {
    const writer = new Writer()
    const length = whole.length - 4
    expect(() => encodeRequest(writer, 7, operations.getData, body, length - 1)).to.throw(
      RangeError,
      `${length} bytes, the limit is ${length - 1}`,
    )
    encodeRequest(writer, 7, operations.getData, body, length)
    expect(Buffer.from(writer.take())).to.deep.equal(whole)
  })

  it('is not appended if a string has no UTF-8 form', () => {
    const writer = new Writer()
    expect(() => encodeRequest(writer, 7, operations.getData, { path: '/\ud800', watch: false }, 1000)).to.throw(
      JuteError,
    )
    encodeRequest(writer, 7, operations.getData, body, 1000)
    expect(Buffer.from(writer.take())).to.deep.equal(whole)
  })
})
