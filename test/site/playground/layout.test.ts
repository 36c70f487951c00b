import { expect } from 'chai'
import {
  along,
  distance,
  heightOf,
  layoutOf,
  lengthOf,
  linkBetween,
  wireOf,
  type Box,
  type Point,
  type Wire,
} from '../../../site/playground/scene/layout.ts'

/** The widths of the stages of a phone, a tablet and a desktop. */
const WIDTHS = [338, 520, 639, 640, 784, 824, 1008]

/** How far a box is from a point, in pixels. */
const gapTo = (box: Box, { x, y }: Point): number =>
  Math.hypot(Math.max(0, Math.abs(x - box.x) - box.width / 2), Math.max(0, Math.abs(y - box.y) - box.height / 2))

/** How far two boxes are apart, in pixels. */
const gapBetween = (one: Box, { x, y, width, height }: Box): number =>
  gapTo({ ...one, width: one.width + width, height: one.height + height }, { x, y })

/** Points of a wire, at most three pixels apart. */
const pointsOn = (wire: Wire): Point[] =>
  wire.flatMap((to, i) => {
    const from = wire[i - 1] ?? to
    return Array.from({ length: Math.ceil(distance(from, to) / 3) }, (_, i) => along(from, to, 3 * i))
  })

describe('the layout of the stage', () => {
  for (const width of WIDTHS)
    for (const servers of [1, 3, 4])
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
          for (const [i, box] of layout.servers.entries())
            for (const [j, other] of layout.servers.entries())
              if (i !== j) {
                expect(gapBetween(box, other)).to.be.at.least(20)
                const link = linkBetween(layout, i + 1, j + 1) ?? expect.fail()
                expect(gapTo(box, link[0] as Point)).to.be.closeTo(0, 1e-6)
                for (const between of layout.servers.filter((_, k) => k !== i && k !== j))
                  expect(Math.min(...pointsOn(link).map(point => gapTo(between, point)))).to.be.above(5)
              }
          for (const [i] of layout.servers.entries())
            for (const [j] of places.entries()) {
              const wire = wireOf(layout, j + 1, i + 1) ?? expect.fail()
              expect(lengthOf(wire), `wire of client ${j + 1}`).to.be.above(12)
              // No other server hides a part of it.
              for (const other of layout.servers.filter((_, k) => k !== i))
                expect(Math.min(...pointsOn(wire).map(point => gapTo(other, point))), `client ${j + 1}`).to.be.above(3)
            }
        })

  it('has a place for the store beside a few clients, apart from all else', () => {
    for (const width of WIDTHS)
      for (const clients of [1, 2, 3, 4]) {
        const layout = layoutOf(width, heightOf(width, 1), clients, 1)
        const store = layout.store ?? expect.fail()
        const places = layout.clients.slice(1)
        expect(store.width).to.be.at.least(120)
        for (const place of places) expect(gapTo(store, place)).to.be.above(layout.token / 2)
        const points = places.flatMap((_, i) => pointsOn(wireOf(layout, i + 1, 1) ?? []))
        for (const point of points) expect(gapTo(store, point)).to.be.above(0)
        const [server] = layout.servers
        expect(store.y + store.height / 2).to.be.below((server?.y ?? 0) - (server?.height ?? 0) / 2)
      }
    expect(layoutOf(824, 600, 5, 1).store).to.equal(undefined)
    expect(layoutOf(824, 600, 2, 3).store).to.equal(undefined)
  })

  it('gives a server room for the nodes of its clients: a line each, or several in a line if they are many', () => {
    const heightFor = (clients: number) => layoutOf(1000, 620, clients, 1).servers[0]?.height ?? 0
    expect([2, 7, 12].map(clients => (heightFor(clients) - heightFor(1)) / 30)).to.deep.equal([1, 6, 3])
  })

  it('places the first client at the top, and the others clockwise', () => {
    const [, first, second] = layoutOf(800, 600, 8, 1).clients as [Point, Point, Point]
    expect(first.x).to.be.closeTo(400, 1)
    expect(first.y).to.be.below(60)
    expect(second.x).to.be.above(first.x)
  })

  for (const servers of [3, 4])
    it(`gives each two of ${servers} servers on a phone a line of their own`, () => {
      const layout = layoutOf(338, heightOf(338, servers), 12, servers)
      const ids = layout.servers.map((_, i) => i + 1)
      const lines = ids.flatMap(one => ids.slice(one).map(other => linkBetween(layout, one, other) ?? []))
      for (const [i, line] of lines.entries())
        for (const other of lines.slice(i + 1))
          for (const point of pointsOn(line))
            expect(Math.min(...pointsOn(other).map(each => distance(point, each)))).to.be.above(5)
    })

  it('stacks three servers on a phone, so that no box hides the line between two others', () => {
    const layout = layoutOf(338, heightOf(338, 3), 12, 3)
    const [from, to] = linkBetween(layout, 3, 1) as [Point, Point]
    const [first, second, third] = layout.servers as [Box, Box, Box]
    for (const gap of [gapTo(third, from), gapTo(first, to)]) expect(gap).to.be.closeTo(0, 1e-6)
    expect(from.x).to.equal(to.x)
    expect(second.x - second.width / 2 - to.x).to.be.above(5)
    expect(linkBetween(layout, 1, 3)).to.deep.equal([to, from])
  })

  it('ends wires and links at the edges of the boxes', () => {
    const layout = layoutOf(800, 600, 4, 3)
    const [a, b] = layout.servers
    const [from, to] = linkBetween(layout, 1, 2) as [Point, Point]
    const isOnEdge = (point: Point, box: typeof a) =>
      box !== undefined &&
      Math.max(Math.abs(point.x - box.x) / (box.width / 2), Math.abs(point.y - box.y) / (box.height / 2))
    expect(isOnEdge(from, a)).to.be.closeTo(1, 1e-6)
    expect(isOnEdge(to, b)).to.be.closeTo(1, 1e-6)
  })
})
