// The bytes of connections, from segments in every order. What a connection has sent is one text for each end.
import { expect } from 'chai'
import fc from 'fast-check'
import { Connections } from '../../../src/cli/capture/connections.ts'
import type { End } from '../../../src/cli/conversation/conversation.ts'
import type { Segment } from '../../../src/cli/capture/segment.ts'

const CLIENT = '10.0.0.1:40000'
const SERVER = '10.0.0.2:2181'

/** The first numbers. That of the client is near the end, so that numbers start again at 0 within the text. */
const FIRST = { client: 0xffff_fff8, server: 1000 } as const

/** A request and its reply, several times. The reply to a request acknowledges it. */
const TEXTS: readonly (readonly [End, string])[] = [
  ['client', 'hello, '],
  ['server', 'welcome; '],
  ['client', 'first'],
  ['client', ' request, '],
  ['server', 'first reply, '],
  ['client', 'second request'],
  ['server', 'second reply'],
]
const INTERLEAVED = TEXTS.map(([, text]) => text).join('')
const SENT = {
  client: 'hello, first request, second request',
  server: 'welcome; first reply, second reply',
}

const segment = (from: End, at: number, text: string, more: Partial<Segment> = {}): Segment => ({
  time: 1,
  from: from === 'client' ? CLIENT : SERVER,
  to: from === 'client' ? SERVER : CLIENT,
  fromPort: from === 'client' ? 40_000 : 2181,
  toPort: from === 'client' ? 2181 : 40_000,
  seq: (FIRST[from] + at) >>> 0,
  ack: undefined,
  isSyn: false,
  isFin: false,
  isReset: false,
  payload: Buffer.from(text),
  cutOff: 0,
  ...more,
})

/** The segments of TEXTS in the order of the wire, with the opening and the end. */
function conversation(): Segment[] {
  const opening = [
    segment('client', 0, '', { isSyn: true }),
    segment('server', 0, '', { isSyn: true, ack: (FIRST.client + 1) >>> 0 }),
  ]
  const sent = { client: 1, server: 1 }
  const ackOf = (from: End) => {
    const other = from === 'client' ? 'server' : 'client'
    return { ack: (FIRST[other] + sent[other]) >>> 0 }
  }
  const segments = TEXTS.map(([from, text]) => {
    const each = segment(from, sent[from], text, ackOf(from))
    sent[from] += text.length
    return each
  })
  const end = segment('client', sent.client, '', { isFin: true, ...ackOf('client') })
  return [...opening, ...segments, end]
}

class Record {
  readonly sent: { client: string; server: string } = { client: '', server: '' }
  interleaved = ''
  readonly events: string[] = []
  readonly connections = new Connections(({ number, client, server, isJoined }) => {
    this.events.push(`${number}: ${client} ${isJoined ? 'talks' : 'connects'} to ${server}`)
    return {
      bytes: (from, bytes) => {
        this.sent[from] += bytes.toString()
        this.interleaved += bytes.toString()
      },
      lost: (from, count) => {
        this.sent[from] += `<${count}>`
        this.events.push(`${from} lost ${count}`)
      },
      closed: from => this.events.push(`${from} ended`),
      reset: (from, ahead) => {
        this.interleaved += '!'
        this.events.push(`${from} reset${ahead > 0 ? ` ${ahead} ahead` : ''}`)
      },
    }
  })

  static of(segments: readonly Segment[]): Record {
    const record = new Record()
    for (const each of segments) record.connections.push(each, 0)
    record.connections.finish()
    return record
  }
}

const OPENED = `1: ${CLIENT} connects to ${SERVER}`

describe('the bytes of captured connections', () => {
  it('are passed on in the order of the wire, with the opening and the end', () => {
    const { events, interleaved, sent } = Record.of(conversation())
    expect(interleaved).to.equal(INTERLEAVED)
    expect(sent).to.deep.equal(SENT)
    expect(events).to.deep.equal([OPENED, 'client ended'])
  })

  it('are the same if segments are in any order after the opening, and come twice', () => {
    const [syn, ...rest] = conversation()
    const some = fc.shuffledSubarray(rest)
    fc.assert(
      fc.property(fc.shuffledSubarray(rest, { minLength: rest.length }), some, some, (all, again, andAgain) => {
        const record = Record.of(
          [syn, ...again.slice(0, 3), ...all, ...again, ...andAgain].filter(each => each !== undefined),
        )
        expect(record.sent).to.deep.equal(SENT)
        expect(record.interleaved).to.equal(INTERLEAVED)
        expect(record.events.filter(each => each.includes('lost'))).to.deep.equal([])
      }),
    )
  })

  it('are the same if segments are sent again in other pieces, which overlap', () => {
    const text = 'abcdefghijklmnopqrstuvwxyz'
    const piece = fc.tuple(fc.nat({ max: 25 }), fc.integer({ min: 1, max: 9 }))
    const whole = Array.from({ length: 9 }, (_, i): [number, number] => [3 * i, 3])
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(), { minLength: 30 }), (pieces, order) => {
        const shuffled = [...whole, ...pieces]
          .map((each, i) => ({ each, key: order[i] ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ each: [at, length] }) => segment('client', 1 + at, text.slice(at, at + length)))
        const { sent, connections } = Record.of([segment('client', 0, '', { isSyn: true }), ...shuffled])
        expect(sent.client).to.equal(text)
        const total = shuffled.reduce((sum, { payload }) => sum + payload.length, 0)
        expect(connections.repeated).to.equal(total - text.length)
      }),
    )
  })

  it('have a hole of the right size for each segment that is missing', () => {
    const segments = conversation()
    for (const missing of segments.slice(2, 9)) {
      const record = Record.of(segments.filter(each => each !== missing))
      const end: End = missing.from === CLIENT ? 'client' : 'server'
      const text = missing.payload.toString()
      expect(record.sent).to.deep.equal({ ...SENT, [end]: SENT[end].replace(text, `<${text.length}>`) })
      expect(record.interleaved).to.equal(INTERLEAVED.replace(text, ''))
    }
  })

  it('have a hole if the limit of the capture has cut a segment', () => {
    const segments = conversation()
    segments[4] = { ...segments[4], payload: Buffer.from('fi'), cutOff: 3 } as Segment
    expect(Record.of(segments).sent.client).to.equal('hello, fi<3> request, second request')
  })

  it('wait a second for a missing segment that the receiver has confirmed, and half a minute for another', () => {
    const record = new Record()
    const { connections } = record
    connections.push(segment('client', 0, '', { isSyn: true }), 0)
    connections.push(segment('client', 3, 'cd'), 100)
    connections.giveUp(30_099)
    expect(record.sent.client).to.equal('')
    connections.giveUp(30_100)
    expect(record.sent.client).to.equal('<2>cd')
    connections.push(segment('client', 7, 'gh'), 40_000)
    connections.push(segment('server', 1, '', { ack: (FIRST.client + 9) >>> 0 }), 40_500)
    connections.giveUp(40_999)
    expect(record.sent.client).to.equal('<2>cd')
    connections.giveUp(41_000)
    expect(record.sent.client).to.equal('<2>cd<2>gh')
  })

  it('wait as long by the times of the packets, because a file is read faster than it was captured', () => {
    const record = new Record()
    const at = (time: number) => ({ time, ack: FIRST.server + 1 })
    record.connections.push(segment('client', 0, '', { isSyn: true, time: 5 }), 0)
    record.connections.push(segment('client', 3, 'cd', at(5)), 0)
    record.connections.push(segment('server', 1, '', { ack: (FIRST.client + 5) >>> 0, time: 5.9 }), 0)
    expect(record.sent.client).to.equal('')
    record.connections.push(segment('client', 5, 'ef', at(6.1)), 0)
    expect(record.sent.client).to.equal('<2>cdef')
  })

  it('do not wait for a missing segment once 16 MiB are held behind it', () => {
    const record = new Record()
    record.connections.push(segment('client', 0, '', { isSyn: true }), 0)
    const chunk = 'x'.repeat(1024 * 1024)
    for (let i = 0; i <= 16; i++) record.connections.push(segment('client', 2 + i * chunk.length, chunk), 0)
    expect(record.events).to.deep.equal([OPENED, 'client lost 1'])
  })

  it('include those that nobody captured but the receiver confirmed, at the end', () => {
    const segments = [...conversation().slice(0, -1), segment('client', 37, '', { ack: FIRST.server + 1 + 34 + 5 })]
    expect(Record.of(segments).sent.server).to.equal(`${SENT.server}<5>`)
  })

  it('begin with the first segment of a connection that is older than the capture, whose server has the known port', () => {
    const record = Record.of(conversation().slice(4))
    expect(record.events[0]).to.equal(`1: ${CLIENT} talks to ${SERVER}`)
    expect(record.sent).to.deep.equal({ client: 'first request, second request', server: 'first reply, second reply' })
    const other = (from: End) => segment(from, 5, 'x', { fromPort: from === 'client' ? 9 : 7, toPort: 8 })
    expect(Record.of([other('client')]).events[0]).to.match(new RegExp(`^1: ${CLIENT}`))
    expect(Record.of([other('server')]).events[0]).to.match(new RegExp(`^1: ${CLIENT}`))
  })

  it('do not include the byte of a keep-alive, or a segment after the end', () => {
    const segments = [...conversation(), segment('client', 36, 'n'), segment('client', 37, 'x')]
    expect(Record.of(segments).sent).to.deep.equal(SENT)
  })

  it('belong to a new connection after a new opening between the same ports, and to the same after a repeated one', () => {
    const [syn, ...rest] = conversation()
    const again = [syn, syn, ...rest].filter(each => each !== undefined)
    const later = again.map(each =>
      each.from === CLIENT
        ? { ...each, seq: (each.seq + 90_000) >>> 0 }
        : { ...each, ack: ((each.ack ?? 0) + 90_000) >>> 0 },
    )
    const { events, interleaved } = Record.of([...again, ...later])
    expect(events).to.deep.equal([OPENED, 'client ended', OPENED.replace('1', '2'), 'client ended'])
    expect(interleaved).to.equal(INTERLEAVED + INTERLEAVED)
  })

  it('are kept apart for connections whose segments alternate', () => {
    const other = conversation().map(each => ({
      ...each,
      from: each.from.replace('40000', '40001'),
      to: each.to.replace('40000', '40001'),
    }))
    const { events, sent } = Record.of(conversation().flatMap((each, i) => [each, other[i] ?? each]))
    expect(events.slice(0, 2)).to.deep.equal([OPENED, `2: 10.0.0.1:40001 connects to ${SERVER}`])
    expect(sent.client).to.have.length(2 * SENT.client.length)
  })

  it('end with a reset, as when a server refuses the connection', () => {
    const refusal = segment('server', -FIRST.server, '', { isReset: true, ack: (FIRST.client + 1) >>> 0 })
    expect(Record.of([segment('client', 0, '', { isSyn: true }), refusal]).events).to.deep.equal([
      OPENED,
      'server reset',
    ])
  })

  describe('before and after a reset', () => {
    const [opening, later] = [conversation().slice(0, 2), conversation().slice(2, -1)]
    /** A reset that a program between the ends sends, with any numbers. */
    const reset = (from: End, at: number, more: Partial<Segment> = {}) =>
      segment(from, at, '', { isReset: true, ...more })
    const resets: readonly (readonly [string, Segment])[] = [
      ['of the client, with the next number', reset('client', 20)],
      ['of the server, with an old number', reset('server', 2)],
      ['of the client, far ahead', reset('client', 0x7fff_0000)],
      ['of the server, far behind', reset('server', -0x7fff_0000)],
      ['that confirms bytes which nobody sent', reset('server', 10, { ack: (FIRST.client + 5_000_000) >>> 0 })],
      ['with a payload, which says why', { ...reset('client', 20), payload: Buffer.from('go away') }],
    ]
    for (const [title, each] of resets)
      it(`are all passed on, for one ${title}`, () => {
        for (const start of [opening, []])
          for (let i = 0; i <= later.length; i++) {
            const segments = [...start, ...later.slice(0, i), each, each, ...later.slice(i)]
            const { interleaved, events } = Record.of(segments)
            expect(interleaved.replace('!', '')).to.equal(INTERLEAVED)
            expect(interleaved.split('!')[0]).to.have.length(
              later
                .slice(0, i)
                .map(({ payload }) => payload)
                .join('').length,
            )
            expect(events.filter(event => event.includes('lost'))).to.deep.equal([])
            expect(events.filter(event => event.includes('reset'))).to.have.length(1)
          }
      })

    it('are passed on although the capture begins only then, and time passes', () => {
      const record = new Record()
      const [first, second, ...others] = later
      for (const each of [reset('client', 9000), first, second, reset('server', 77)])
        if (each !== undefined) record.connections.push(each, 0)
      record.connections.giveUp(60_000)
      for (const each of others) record.connections.push(each, 60_000)
      record.connections.finish()
      expect(record.interleaved.replaceAll('!', '')).to.equal(INTERLEAVED)
      expect(record.events.slice(1)).to.deep.equal(['client reset', 'server reset 67 ahead'])
    })

    it('wait for those that were captured late, and have a hole for those that were not', () => {
      const [hello, , first, rest] = later as [Segment, Segment, Segment, Segment]
      const late = Record.of([...opening, hello, rest, reset('client', 23), first])
      expect(late.interleaved).to.equal('hello, first request, !')
      const missing = Record.of([...opening, hello, rest, reset('client', 23)])
      expect(missing.sent.client).to.equal('hello, <5> request, ')
      expect(missing.events.slice(1)).to.deep.equal(['client lost 5', 'server lost 9', 'client reset'])
    })

    it('are told with the distance, which may be that of missing bytes', () => {
      expect(Record.of([...opening, ...later.slice(0, 1), reset('client', 1 + 7 + 30)]).events.slice(1)).to.deep.equal([
        'client reset 30 ahead',
      ])
    })
  })

  it('are found in any segments without an error or an endless loop', () => {
    const anySegment = fc.record({
      from: fc.constantFrom<End>('client', 'server'),
      at: fc.oneof(fc.integer({ min: -20, max: 60 }), fc.integer()),
      text: fc.string({ maxLength: 8 }),
      more: fc.record({
        ack: fc.option(fc.oneof(fc.nat({ max: 2000 }), fc.nat(0xffff_ffff)), { nil: undefined }),
        isSyn: fc.boolean(),
        isFin: fc.boolean(),
        isReset: fc.boolean(),
        cutOff: fc.nat({ max: 3 }),
      }),
    })
    fc.assert(
      fc.property(fc.array(anySegment), segments => {
        Record.of(segments.map(({ from, at, text, more }) => segment(from, at, text, more)))
      }),
      { numRuns: 500 },
    )
  })
})
