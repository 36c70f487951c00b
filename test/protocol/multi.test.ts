import { expect } from 'chai'
import { JuteError, MultiHeader, MultiRequest, MultiResponse, opcodes } from '../../src/protocol/index.ts'

describe('the list of a multi', () => {
  it('is refused if an item has an unknown type', () => {
    const bytes = Buffer.concat([MultiHeader.encode({ type: 99, done: false, err: 0 }), Buffer.alloc(50)])
    expect(() => MultiResponse.decode(bytes)).to.throw(JuteError, 'an item of unknown type 99 in MultiResponse')
    expect(() => MultiRequest.decode(bytes)).to.throw(JuteError, 'an item of unknown type 99 in MultiRequest')
  })

  it('has the number of each error in the header too, as the server writes it', () => {
    const bytes = MultiResponse.encode([{ type: opcodes.error, body: { err: -101 } }])
    expect(MultiHeader.decode(bytes)).to.deep.equal({ type: -1, done: false, err: -101 })
  })

  it('is read also if only the header of a result has the error, as ClickHouse Keeper writes it', () => {
    const bytes = Buffer.concat([
      MultiHeader.encode({ type: opcodes.getData, done: false, err: -101 }),
      MultiHeader.encode({ type: -1, done: true, err: -1 }),
    ])
    expect(MultiResponse.decode(bytes)).to.deep.equal([{ type: opcodes.error, body: { err: -101 } }])
  })
})
