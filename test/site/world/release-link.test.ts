import { expect } from 'chai'
import { storyOf } from '../../../site/world/story-link.ts'
import { releaseAddresses } from '../../../site/world/release-link.ts'
import { World } from '../../../site/world/world.ts'

describe('the link of a recorded release', () => {
  const release = (scenario: string) => ({ scenario, phase: 'release', sessions: 12 })

  for (const [scenario, woken] of Object.entries({ ephemeral: 11, herd: 11, mutex: 1, 'look-ahead': 2, ticket: 2 }))
    it(`leads to a world that is about to notify ${woken} of ${scenario}`, async () => {
      const [address = ''] = [...(await releaseAddresses([release(scenario)], '../playground.html')).values()]
      const [page, link = ''] = address.split('#')
      expect(page).to.equal('../playground.html')
      const world = await World.replay(storyOf(link))
      const before = world.frames.length
      await world.settle()
      const notified = world.frames.slice(before).filter(({ kind }) => kind === 'notification')
      await world.close()
      expect(notified).to.have.length(woken)
    })

  it('is missing for a lock that the playground does not have, and for a phase that is no release', async () => {
    const others = [release('reentrant'), { ...release('herd'), phase: 'join' }]
    expect(await releaseAddresses(others, 'playground.html')).to.deep.equal(new Map())
  })
})
