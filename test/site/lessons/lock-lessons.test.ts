// The lessons about the queues of locks: what they say is what their worlds show.
import { expect } from 'chai'
import { isMatch } from '../../../site/lessons/lesson-run.ts'
import * as lessons from '../../../site/lessons/lock-lessons.ts'
import { explanationOf } from '../../../site/world/wire-frame-words.ts'
import type { World } from '../../../site/world/world.ts'
import { clientOf, itIsTrue, notified, rolesOf, textsOf } from '../support/lesson-facts.ts'

const releaseOf = (world: World) => world.picture().counters.thisRelease

describe('the lessons about the queues of locks', () => {
  itIsTrue(lessons, {
    herd: [
      (world, before) => {
        expect(notified(world, before)).to.have.members([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        const kinds = world.frames.slice(before).map(({ kind, op }) => (kind === 'notification' ? kind : op))
        const count = (name: string) => kinds.filter(kind => kind === name).length
        expect(releaseOf(world).frames).to.equal(kinds.length)
        expect(count('notification') + count('getChildren2')).to.equal(33)
        expect([kinds.length, count('delete'), count('removeWatches')]).to.deep.equal([37, 2, 2])
        expect(world.frames.at(-1)).to.include({ client: 2, op: 'removeWatches' })
        expect(rolesOf(world).indexOf('holding')).to.be.above(0)
      },
      () => undefined, // measured below
    ],
    chain: [
      (world, before) => {
        expect(notified(world, before)).to.deep.equal([2])
        expect(rolesOf(world)[1]).to.equal('holding')
      },
      () => undefined, // measured below
      (world, before) => {
        expect(notified(world, before)).to.deep.equal([4])
        expect(rolesOf(world)[3]).to.equal('waiting')
      },
    ],
    listAfterWakeUp: [
      (world, before) => {
        expect(notified(world, before)).to.deep.equal([3])
        expect(rolesOf(world)[0]).to.equal('holding')
      },
      (world, before) => {
        // Client 3 asks: nothing in the words of its frames could be read as another client.
        const [asked, answered] = world.frames.slice(before - 1).map(frame => explanationOf(frame).sentence)
        expect(asked).to.match(/^client, xid 4: getChildren2 \{/)
        expect(answered).to.match(/^server answers, xid 4: getChildren2: OK \{/)
        expect(clientOf(world, 3).watches.map(({ path }) => path)).to.deep.equal([clientOf(world, 1).node])
        expect(rolesOf(world)[2]).to.equal('waiting')
      },
      world => {
        expect(rolesOf(world)[2]).to.equal('holding')
        expect(world.picture().releases[0]?.ms).to.equal(20)
      },
    ],
    oneTrip: [
      (world, before) => {
        expect(world.picture().releases.at(-1)?.ms).to.equal(10)
        expect(notified(world, before)).to.deep.equal([2, 3])
      },
      world => {
        const listed = world.frames.filter(frame => isMatch(frame, { kind: 'request', op: 'getChildren2', client: 3 }))
        expect(listed.at(-1)?.sentAt).to.be.above(world.picture().releases[0]?.at ?? Infinity)
        expect(world.frames.some(frame => frame.client === 2 && frame.sentAt > (listed.at(-1)?.sentAt ?? 0))).to.equal(
          false,
        )
      },
    ],
    tickets: [
      (world, before) => {
        expect(notified(world, before)).to.deep.equal([2, 3])
        expect(rolesOf(world)[1]).to.equal('holding')
        const requests = world.frames.slice(before).filter(({ kind }) => kind === 'request')
        expect(requests.map(({ client, op }) => `${client} ${op}`)).to.deep.equal(['1 multi', '3 getData'])
      },
      world => {
        expect(releaseOf(world).bytes).to.be.below(800)
        expect(rolesOf(world)[2]).to.equal('holding')
      },
    ],
    readersHerd: [
      (world, before) => {
        expect(notified(world, before)).to.have.members([2, 3, 5, 6, 8, 9, 11, 12])
        expect(rolesOf(world).filter(role => role === 'reading')).to.have.length(8)
        const lists = world.frames.slice(before).filter(frame => isMatch(frame, { kind: 'answer', op: 'getChildren2' }))
        expect(lists).to.have.length(8)
      },
      () => undefined, // follows from the eight lists
    ],
    doubleBarrier: [
      (world, before) => {
        const creates = world.frames.slice(before).filter(frame => isMatch(frame, { kind: 'request', op: 'create2' }))
        expect(creates.length).to.be.above(1)
        expect(rolesOf(world)).to.deep.equal(['inside', 'inside', 'inside'])
      },
      world => expect(textsOf(world, 1).at(-1)).to.equal('releases'),
      (world, before) => {
        expect(notified(world, before)).to.have.members([1, 2])
        for (const client of [1, 2]) expect(textsOf(world, client).at(-1)).to.equal('has released')
        const [notification] = world.frames.slice(before).filter(({ kind }) => kind === 'notification')
        const killed = Math.max(...world.frames.filter(({ client }) => client === 3).map(({ sentAt }) => sentAt))
        expect((notification?.sentAt ?? 0) - killed).to.be.above(9000)
      },
    ],
  })
})
