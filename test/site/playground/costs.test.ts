import { expect } from 'chai'
import { costsOf, pointsOf } from '../../../site/playground/model/costs.ts'
import { costOfRelease, isMeasurable } from '../../../site/playground/model/measure.ts'
import { ticksUpTo } from '../../../site/playground/scene/plot.ts'
import { World } from '../../../site/world/world.ts'
import { RECIPES, type RecipeId } from '../../../site/world/story.ts'

const costs = async (recipe: RecipeId, sizes: readonly number[]) =>
  (await Promise.all(sizes.map(clients => costOfRelease({ recipe, clients, servers: 1, seed: 3 })))).flat()

describe('the plot of costs', () => {
  it('shows the herd as a parabola of bytes, and notifications of one release to all that wait', async () => {
    const all = await costs('herd-mutex', [10, 20, 40])
    expect(pointsOf(all, 'notifications').get('herd-mutex')).to.deep.equal([
      { clients: 10, value: 9, tried: 1 },
      { clients: 20, value: 19, tried: 1 },
      { clients: 40, value: 39, tried: 1 },
    ])
    const [a = 0, b = 0, c = 0] = all.map(({ bytes }) => bytes)
    expect(b / a).to.be.within(3, 4.5)
    expect(c / b).to.be.within(3.5, 4.5)
  })

  it('counts all holders among those who contend, however many the recipe admits', async () => {
    expect((await costs('semaphore', [12])).map(({ clients }) => clients)).to.deep.equal([12])
  })

  it('has a point of each recipe that can be tried, and of no other', async () => {
    for (const recipe of Object.keys(RECIPES) as RecipeId[])
      expect(await costs(recipe, [4]), recipe).to.have.length(isMeasurable(recipe) ? 1 : 0)
  })

  it('shows that a ticket lock costs the same at each N', async () => {
    const points = pointsOf(await costs('ticket-mutex', [5, 40]), 'bytes').get('ticket-mutex') ?? []
    expect(new Set(points.map(({ value }) => value)).size).to.equal(1)
  })

  it('has no point of a release that still causes frames, or for which nobody waited', async () => {
    const world = await World.open({ recipe: 'herd-mutex', clients: 4, servers: 1, seed: 3 })
    await world.settle()
    await world.act({ kind: 'release', client: 1 })
    await world.step()
    expect(costsOf(world.picture(), false)).to.deep.equal([])
    await world.settle()
    expect(costsOf(world.picture(), true)).to.have.length(1)
    expect(costsOf(world.picture(), false)).to.deep.equal([])
    await world.close()
    expect(await costs('herd-mutex', [1])).to.deep.equal([])
  })

  it('draws the median of the releases that were tried with the same N', () => {
    const cost = { id: '', recipe: 'mutex', servers: 1, notifications: 1, frames: 1, ms: 5, clients: 4 } as const
    const points = pointsOf(
      [7, 900, 8].map(bytes => ({ ...cost, bytes })),
      'bytes',
    )
    expect(points.get('mutex')).to.deep.equal([{ clients: 4, value: 8, tried: 3 }])
  })

  it('has round numbers at its axes', () => {
    expect(ticksUpTo(10)).to.deep.equal([0, 5, 10])
    expect(ticksUpTo(59)).to.deep.equal([0, 20, 40, 60])
    expect(ticksUpTo(214_000)).to.deep.equal([0, 100_000, 200_000, 300_000])
  })
})
