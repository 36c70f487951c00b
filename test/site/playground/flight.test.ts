import { expect } from 'chai'
import fc from 'fast-check'
import { dotAt, dotsOf, flightsOf, type Dot } from '../../../site/playground/scene/flight.ts'
import { distance, layoutOf } from '../../../site/playground/scene/layout.ts'
import { frameOf } from '../support/frame.ts'

describe('dots in flight', () => {
  const layout = layoutOf(800, 600, 12, 1)
  const dots = (frames: Parameters<typeof frameOf>[0][], now: number, still = false): Dot[] =>
    dotsOf(flightsOf(layout, frames.map(frameOf), []), now, still)

  it('are as many as frames, each within the stage', () => {
    const frame = fc.record({
      client: fc.integer({ min: 0, max: 12 }),
      direction: fc.constantFrom('up' as const, 'down' as const),
      sentAt: fc.integer({ min: 0, max: 5 }),
    })
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 80 }), fc.double({ min: 5, max: 9.9, noNaN: true }), (frames, now) => {
        const found = dots(
          frames.map((each, i) => ({ ...each, n: i + 1, arrivesAt: each.sentAt + 5 })),
          now,
        )
        expect(found.map(({ n }) => n).sort((a = 0, b = 0) => a - b)).to.deep.equal(frames.map((_, i) => i + 1))
        for (const { x, y } of found) {
          expect(x).to.be.within(0, 800)
          expect(y).to.be.within(0, 600)
        }
      }),
    )
  })

  for (const now of [0, 0.2, 4, 5])
    it(`of frames that were sent in one instant stand apart ${now} ms later, in the order in which they were sent`, () => {
      const found = dots(
        [1, 2, 3].map(n => ({ n, client: 3, sentAt: 0, arrivesAt: 5 })),
        now,
      )
      const [token, ...places] = [layout.clients[3], ...found]
      expect(token).not.to.equal(undefined)
      const far = places.map(dot => distance(dot, token as Dot))
      expect(far).to.deep.equal([...far].sort((a, b) => b - a))
      for (let i = 1; i < places.length; i++)
        expect(distance(places[i] as Dot, places[i - 1] as Dot)).to.be.closeTo(15, 0.1)
    })

  it('fly up on one side of the wire, and down on the other', () => {
    const [up, down] = dots(
      [
        { n: 1, client: 3, direction: 'up', sentAt: 0, arrivesAt: 5 },
        { n: 2, client: 3, direction: 'down', sentAt: 0, arrivesAt: 5 },
      ],
      2.5,
    )
    expect(distance(up as Dot, down as Dot)).to.be.closeTo(10, 0.1)
  })

  it('stay halfway on an unplugged line, and anywhere with reduced motion', () => {
    const frame = { n: 1, client: 3, sentAt: 0, arrivesAt: Infinity }
    expect(dots([frame], 1000)).to.deep.equal(dots([frame], 2000))
    const moving = { ...frame, arrivesAt: 5 }
    expect(dots([moving], 1, true)).to.deep.equal(dots([moving], 4, true))
    expect(dots([moving], 1)).not.to.deep.equal(dots([moving], 4))
  })

  it('are crosses from the moment of their loss', () => {
    const frame = { n: 1, client: 3, sentAt: 0, arrivesAt: 5, lostAt: 3 }
    expect(dots([frame], 2.9)[0]?.lost).to.equal(false)
    expect(dots([frame], 3)[0]?.lost).to.equal(true)
  })

  it('are found by a click that is near enough, the nearest first', () => {
    const all: Dot[] = [10, 20, 90].map((x, i) => ({ n: i, message: undefined, x, y: 0, kind: 'ping', lost: false }))
    expect(dotAt(all, { x: 17, y: 0 }, 16)?.n).to.equal(1)
    expect(dotAt(all, { x: 50, y: 0 }, 16)).to.equal(undefined)
  })
})
