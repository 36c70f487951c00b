// How many requests may be in flight, with a server that answers one after the other.
import { expect } from 'chai'
import * as operations from '../../../src/protocol/operations.ts'
import { Request } from '../../../src/session/requests/request.ts'
import { Window } from '../../../src/session/requests/window.ts'

/** In milliseconds, as all times here. */
const LONGEST = 100
const ROUND_TRIP = 10

const reading = () => new Request(operations.getData, { path: '/a', watch: false }, '/a', () => undefined)
const writing = (bytes: number) => () =>
  new Request(operations.setData, { path: '/a', data: Buffer.alloc(bytes), version: -1 }, '/a', () => undefined)

describe('the requests in flight together', () => {
  let window: Window
  let inFlight: Request[]
  let now: number
  /** When the server has answered all. */
  let busyUntil: number

  beforeEach(() => {
    window = new Window(LONGEST, ROUND_TRIP)
    inFlight = []
    now = 0
    busyUntil = 0
  })

  function send(make: () => Request, most = Infinity): void {
    for (let request = make(); most-- > 0 && window.takes(request, inFlight.length, true); request = make()) {
      request.sentAt = { now, wall: now }
      inFlight.push(request)
      window.onSent(request, inFlight.length)
    }
  }

  /** Makes `count` calls at once, and answers each `ms` after the one before. Returns the most that were in flight. */
  function callAtOnce(count: number, ms: number, make = reading): number {
    let deepest = 0
    for (let left = count; left > 0 || inFlight.length > 0;) {
      const before = inFlight.length
      send(make, left)
      left -= inFlight.length - before
      deepest = Math.max(deepest, inFlight.length)
      const request = inFlight.shift() as Request
      now = busyUntil = Math.max(busyUntil, (request.sentAt?.now ?? 0) + ROUND_TRIP) + ms
      window.onReply(request, now)
    }
    return deepest
  }

  for (const [each, of] of [
    [0.1, 1000],
    [1, 100],
    [10, 10],
  ] as const)
    it(`are about those that the server answers within the given time, if it answers one in ${each} ms`, () => {
      expect(callAtOnce(5000, each)).to.be.within(of / 4, of * 3)
    })

  it('are one if its reply takes longer', () => {
    callAtOnce(3, 2 * LONGEST)
    expect(callAtOnce(20, 2 * LONGEST)).to.equal(1)
    expect(window.isSlow).to.equal(true)
  })

  it('are measured also after a request that shows nothing of what they cost', () => {
    const question = writing(0)()
    window.onSent(question, 1)
    window.forget(question)
    callAtOnce(64, 2 * LONGEST, writing(100))
    expect(window.isSlow).to.equal(true)
  })

  it('are all if there are few', () => {
    expect(callAtOnce(1, 1)).to.equal(1)
    expect(callAtOnce(20, 1, writing(100))).to.equal(20)
  })

  it('are one at first, and again after a moment without one, because the next replies may be longer', () => {
    callAtOnce(5000, 0.1)
    send(reading)
    expect(inFlight).to.have.length(1)
  })

  it('are one at first if the requests are long', () => {
    send(writing(100_000))
    expect(inFlight).to.have.length(1)
  })
})
