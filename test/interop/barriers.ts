// What a barrier that is shared with another library must do.
import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { Barrier, DoubleBarrier } from '../../src/recipes/index.ts'
import type { InteropFixture } from './fixture.ts'

/** Each library raises and lowers a barrier for which both wait. */
export async function expectSharedBarrier({ client, peer, peers, path }: InteropFixture): Promise<void> {
  const [, other = peer] = peers
  const barrier = new Barrier(client, path)
  const raisers = [
    [() => barrier.raise(), () => peer.ask('lower', '', path)],
    [() => peer.ask('raise', '', path), () => barrier.lower()],
  ] as const
  for (const [raise, lower] of raisers) {
    await raise()
    expect(await peer.ask('wait', '', path, '20')).to.equal('up')
    const error = await barrier.wait({ timeout: 20 }).catch((reason: unknown) => reason)
    expect(error).to.include({ code: 'TIMEOUT' })
    const waiting: Promise<unknown>[] = [barrier.wait(), other.ask('wait', '', path, '10000')]
    await lower()
    expect(await Promise.all(waiting)).to.deep.equal([undefined, 'down'])
  }
}

/** Two members of each library enter and leave together, twice. */
export async function expectSharedDoubleBarrier({ clients, peers, path }: InteropFixture): Promise<void> {
  const ours = clients.map(client => new DoubleBarrier(client, path, 4))
  const inside = async () =>
    (await clients[0]?.getChildren(path))?.children.filter(name => name !== 'ready').length ?? 0
  for (let round = 0; round < 2; round++) {
    const entering = [
      ...ours.slice(0, 1).map(each => each.enter()),
      ...peers.map(peer => peer.ask('enter', '', path, '4')),
    ]
    const isEarly = await Promise.race([...entering.map(each => each.then(() => true)), pause(100).then(() => false)])
    expect(isEarly, 'entered with three of four').to.equal(false)
    await Promise.all([...entering, ours[1]?.enter()])
    expect(await inside()).to.equal(4)
    const leaving = [
      ...ours.slice(0, 1).map(each => each.leave()),
      ...peers.map(peer => peer.ask('leave', '', path, '4')),
    ]
    const isGone = await Promise.race([...leaving.map(each => each.then(() => true)), pause(100).then(() => false)])
    expect(isGone, 'left while the fourth was inside').to.equal(false)
    await Promise.all([...leaving, ours[1]?.leave()])
  }
}
