import { expect } from 'chai'
import { herdsAmong, notificationsIn, type Notification } from '../../../src/cli/capture/captured-herds.ts'
import { CaptureError } from '../../../src/cli/capture/packet.ts'
import { failureOf } from '../../support/settled.ts'
import { eventTypes, WatcherEvent } from '../../../src/protocol/index.ts'
import { ipv4, linked, links, pcapFile } from './packet-of.ts'

/** Notifications of some connections at one moment. */
const change = (path: string, seconds: number, connections: number, type = 'NodeChildrenChanged'): Notification[] =>
  Array.from({ length: connections }, (_, i) => ({ seconds, connection: i + 1, type, path }))

describe('the herds in a capture', () => {
  it('are the changes that notified many connections, the largest first, with their number', () => {
    const notifications = [
      ...change('/a', 0, 12),
      ...change('/b', 0.1, 30, 'NodeDeleted'),
      ...change('/a', 0.2, 10),
      ...change('/a', 0.3, 9),
      ...change('/a', 0.4, 40, 'NodeDataChanged'),
    ]
    expect(herdsAmong(notifications, 10)).to.deep.equal([
      { path: '/a', type: 'NodeDataChanged', notified: 40, changes: 1 },
      { path: '/b', type: 'NodeDeleted', notified: 30, changes: 1 },
      { path: '/a', type: 'NodeChildrenChanged', notified: 12, changes: 2 },
    ])
  })

  it('are none if many changes notify one connection each, also within a second', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => change(`/queue/n-${i}`, i / 100, 1, 'NodeDeleted'))
    expect(herdsAmong(hundred.flat(), 10)).to.deep.equal([])
    const same = Array.from({ length: 100 }, (_, i) => change('/a', i / 100, 1))
    expect(herdsAmong(same.flat(), 2)).to.deep.equal([])
  })

  it('are not made of changes that are more than a second apart', () => {
    const spread = change('/a', 0, 12).map((each, i) => ({ ...each, seconds: i / 5 }))
    expect(herdsAmong(spread, 10)).to.deep.equal([])
    expect(herdsAmong(spread, 6)).to.have.length(1)
  })

  it('are not none of a file that is empty, or ends before it is known to be a capture', async () => {
    for (const [bytes, problem] of [
      ['', 'the input is empty'],
      ['d4c3b2', 'the input is not a capture of tcpdump -w'],
    ] as const) {
      const chunks = async function* () {
        if (bytes !== '') yield await Promise.resolve(Buffer.from(bytes, 'hex'))
      }
      const error = await failureOf(notificationsIn(chunks(), () => 0, 2181))
      expect(error).to.be.an.instanceOf(CaptureError).with.property('message', problem)
    }
  })

  it('are read from the frames that servers send', async () => {
    const event = WatcherEvent.encode({ type: eventTypes.NodeDeleted, state: 3, path: '/a' })
    const frame = Buffer.concat([Buffer.from(`${'0'.repeat(7)}0ffffffff${'f'.repeat(16)}00000000`, 'hex'), event])
    frame.writeUInt32BE(frame.length - 4)
    const packets = [40001, 40002].map((toPort, i) => ({
      time: i / 100,
      linkType: links.ethernet,
      bytes: linked(links.ethernet, ipv4({ fromPort: 2181, toPort, seq: 1, ack: 1, payload: frame })),
    }))
    async function* chunks() {
      yield await Promise.resolve(pcapFile(packets))
    }
    const { notifications, summary } = await notificationsIn(chunks(), () => 0, 2181)
    expect(notifications.map(({ connection, type, path }) => [connection, type, path])).to.deep.equal([
      [1, 'NodeDeleted', '/a'],
      [2, 'NodeDeleted', '/a'],
    ])
    expect(summary).to.match(/^packets: 2; connections: 2/)
  })
})
