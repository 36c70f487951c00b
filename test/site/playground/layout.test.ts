import { expect } from 'chai'
import {
  distance,
  heightOf,
  layoutOf,
  linkBetween,
  wireOf,
  type Box,
  type Point,
} from '../../../site/playground/scene/layout.ts'

/** The widths of the stages of a phone, a tablet and a desktop. */
const WIDTHS = [338, 520, 639, 640, 784, 824, 1008]

/** How far a box is from a point, in pixels. */
const gapTo = (box: Box, { x, y }: Point): number =>
  Math.hypot(Math.max(0, Math.abs(x - box.x) - box.width / 2), Math.max(0, Math.abs(y - box.y) - box.height / 2))

describe('the layout of the stage', () => {
  for (const width of WIDTHS)
    for (const servers of [1, 3] as const)
      for (const clients of [1, 2, 12, 37, 60])
        it(`keeps ${clients} clients and ${servers} servers apart on a stage of ${width} pixels`, () => {
          const height = heightOf(width, servers)
          const layout = layoutOf(width, height, clients, servers)
          const { token } = layout
          expect(token, 'large enough for a finger').to.be.at.least(24)
          const places = layout.clients.slice(1)
          expect(places).to.have.length(clients)
          for (const [i, place] of places.entries()) {
            expect(place.x - token / 2).to.be.at.least(0)
            expect(place.x + token / 2).to.be.at.most(width)
            expect(place.y - token / 2).to.be.at.least(0)
            expect(place.y + token / 2).to.be.at.most(height)
            for (const other of places.slice(i + 1)) expect(distance(place, other)).to.be.at.least(token - 1)
          }
          for (const box of layout.servers)
            for (const place of places) expect(gapTo(box, place)).to.be.above(token / 2 + 4)
          for (const [i] of layout.servers.entries())
            for (const [j] of places.entries()) {
              const { from, to } = wireOf(layout, j + 1, i + 1) ?? expect.fail()
              expect(distance(from, to), `wire of client ${j + 1}`).to.be.above(12)
            }
        })

  it('places the first client at the top, and the others clockwise', () => {
    const [, first, second] = layoutOf(800, 600, 8, 1).clients as [Point, Point, Point]
    expect(first.x).to.be.closeTo(400, 1)
    expect(first.y).to.be.below(60)
    expect(second.x).to.be.above(first.x)
  })

  it('stacks three servers on a phone, so that no box hides the line between two others', () => {
    const layout = layoutOf(338, heightOf(338, 3), 12, 3)
    const { from, to } = linkBetween(layout, 3, 1) ?? expect.fail()
    const [first, second, third] = layout.servers as [Box, Box, Box]
    expect([gapTo(third, from), gapTo(first, to)]).to.deep.equal([0, 0])
    expect(from.x).to.equal(to.x)
    expect(second.x - second.width / 2 - to.x).to.be.above(5)
    expect(linkBetween(layout, 1, 3)).to.deep.equal({ from: to, to: from })
  })

  it('ends wires and links at the edges of the boxes', () => {
    const layout = layoutOf(800, 600, 4, 3)
    const [a, b] = layout.servers
    const { from, to } = linkBetween(layout, 1, 2) ?? expect.fail()
    const isOnEdge = (point: Point, box: typeof a) =>
      box !== undefined &&
      Math.max(Math.abs(point.x - box.x) / (box.width / 2), Math.abs(point.y - box.y) / (box.height / 2))
    expect(isOnEdge(from, a)).to.be.closeTo(1, 1e-6)
    expect(isOnEdge(to, b)).to.be.closeTo(1, 1e-6)
  })
})
