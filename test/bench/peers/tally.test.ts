import { expect } from 'chai'
import { eventOf } from '../../../bench/measure/recording.ts'
import { createsOf, tallyOf, type ContenderFrame } from '../../../bench/peers/tally.ts'
import { opcodes, operations, ReplyHeader, RequestHeader, WatcherEvent, xids } from '../../../src/protocol/index.ts'

const PATH = '/root/recipe/l'

function requestOf(who: number, xid: number, name: 'create' | 'getData', at = 0): ContenderFrame {
  const header = RequestHeader.encode({ xid, type: opcodes[name] })
  const body =
    name === 'create'
      ? operations.create.request.encode({ path: `${PATH}/lock-`, data: Buffer.alloc(0), acl: [], flags: 3 })
      : operations.getData.request.encode({ path: PATH, watch: true })
  return { who, at, from: 'client', connection: 0, xid, opcode: opcodes[name], bytes: Buffer.concat([header, body]) }
}

const notification: ContenderFrame = {
  ...{ who: 1, at: 7, from: 'server', connection: 0, xid: xids.notification, opcode: undefined },
  bytes: Buffer.concat([
    ReplyHeader.encode({ xid: xids.notification, zxid: -1n, err: 0 }),
    WatcherEvent.encode({ type: 2, state: 3, path: `${PATH}/lock-1` }),
  ]),
}

const ping: ContenderFrame = { ...requestOf(0, 1, 'getData'), xid: xids.ping, opcode: opcodes.ping }
const handshake: ContenderFrame = { ...requestOf(0, 1, 'getData'), xid: 0, opcode: undefined }

describe('the tally of the peers’ frames', () => {
  it('counts frames, bytes with their lengths, notifications, and requests by kind', () => {
    const requests = [requestOf(0, 1, 'getData'), requestOf(0, 2, 'create'), requestOf(1, 1, 'getData')]
    const tally = tallyOf([...requests, notification])
    expect(tally).to.deep.equal({
      ...{ notifications: 1, framesSent: 3, framesReceived: 1 },
      bytesSent: requests.reduce((sum, { bytes }) => sum + 4 + bytes.length, 0),
      bytesReceived: 4 + notification.bytes.length,
      requests: { create: 1, getData: 2 },
    })
  })

  it('is the same text whichever contender was first', () => {
    const [one, other] = [requestOf(0, 1, 'create'), requestOf(1, 1, 'getData')]
    expect(JSON.stringify(tallyOf([one, other]))).to.equal(JSON.stringify(tallyOf([other, one])))
  })

  it('leaves out pings and handshakes, which belong to no recipe', () => {
    expect(tallyOf([ping, handshake])).to.deep.equal(tallyOf([]))
  })

  it('finds the creates of one contender', () => {
    const frames = [requestOf(0, 1, 'getData'), requestOf(0, 2, 'create'), requestOf(1, 1, 'create')]
    expect(createsOf(frames, 0)).to.deep.equal([opcodes.create])
  })

  it('describes a frame without the directory of the lock, with its time from the release', () => {
    const { says, ...event } = eventOf(notification, 5, PATH)
    expect(event).to.deep.equal({ at: 2, who: 1, is: 'event', op: 'event', bytes: 4 + notification.bytes.length })
    expect(says).to.contain('NodeDeleted').and.not.to.contain(PATH)
    expect(eventOf(requestOf(0, 3, 'getData', 9), 5, PATH)).to.include({ is: 'request', op: 'getData', at: 4 })
  })
})
