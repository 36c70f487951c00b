// The lessons about faults: what they say is what their worlds show.
import { expect } from 'chai'
import * as lessons from '../../../site/lessons/fault-lessons.ts'
import { isMatch } from '../../../site/lessons/lesson-run.ts'
import type { World } from '../../../site/world/world.ts'
import { clientOf, itIsTrue, modesOf, rolesOf, textsOf } from '../support/lesson-facts.ts'

const confirmationsOf = (world: World) => world.picture().clients.map(({ isConfirmed }) => isConfirmed)

const storeOf = (world: World) =>
  world.picture().store.writes.map(({ kind, client, isAccepted }) => [kind, client, isAccepted])

describe('the lessons about faults', () => {
  itIsTrue(lessons, {
    stalledHolder: [
      world => {
        expect(rolesOf(world)[1]).to.equal('holding')
        expect(clientOf(world, 1).process).to.equal('stopped')
        // Client 1 only believes that it holds the lock, and is drawn so.
        expect(confirmationsOf(world)).to.deep.equal([false, true])
      },
      world =>
        expect(
          world.picture().store.writes.map(({ client, isAccepted, isLate }) => [client, isAccepted, isLate]),
        ).to.deep.equal([
          [2, true, false],
          [1, true, true],
        ]),
      world => {
        const writes = world.picture().store.writes.slice(-2)
        expect(writes.map(({ client, isAccepted }) => [client, isAccepted])).to.deep.equal([
          [2, true],
          [1, false],
        ])
        const [late, seen] = [writes[1]?.token, writes[0]?.token].map(token => BigInt(token ?? 0))
        expect(late !== undefined && seen !== undefined && late < seen).to.equal(true)
      },
      world => {
        expect(world.picture().servers[0]?.nodes.find(({ path }) => path === '/resource')?.text).to.equal('')
        expect(clientOf(world, 1).state).to.equal('connected')
        expect(textsOf(world, 1).join('\n')).to.match(/NONODE/)
      },
    ],
    lateWrite: [
      world =>
        expect(storeOf(world)).to.deep.equal([
          ['write', 1, true],
          ['write', 2, true],
        ]),
      world =>
        expect(storeOf(world).slice(2)).to.deep.equal([
          ['registration', 1, true],
          ['registration', 2, true],
          ['write', 1, false],
          ['write', 2, true],
        ]),
    ],
    lostAnswer: [
      (world, before) => {
        const answer = world.frames.slice(before).find(frame => isMatch(frame, { kind: 'answer', client: 2 }))
        expect(answer?.lostAt).to.be.a('number')
        expect(world.picture().servers[0]?.nodes.filter(({ owner }) => owner === 2)).to.have.length(1)
      },
      (world, before) => {
        const created = world.frames.filter(frame => isMatch(frame, { client: 2, kind: 'request', op: 'create2' }))
        expect(created).to.have.length(1)
        expect(world.frames.slice(before).some(frame => isMatch(frame, { client: 2, kind: 'connect' }))).to.equal(true)
        expect(rolesOf(world)[1]).to.equal('waiting')
      },
      world => {
        expect(rolesOf(world)).to.deep.equal(['done', 'holding'])
        expect(world.picture().servers[0]?.nodes.filter(({ path }) => path.startsWith('/lock/'))).to.have.length(1)
      },
    ],
    reconnectStorm: [
      world => {
        expect(new Set(world.picture().clients.map(({ state }) => state))).to.deep.equal(new Set(['suspended']))
        expect(rolesOf(world)[0]).to.equal('holding')
      },
      (world, before) => {
        const back = world.frames.slice(before).filter(frame => isMatch(frame, { kind: 'connect', direction: 'up' }))
        const times = back.map(({ sentAt }) => sentAt)
        expect(new Set(back.map(({ client }) => client))).to.have.property('size', 12)
        expect(Math.max(...times) - Math.min(...times)).to.be.within(300, 1500)
        expect(rolesOf(world)[0]).to.equal('holding')
      },
      world => {
        const set = world.frames.filter(frame => isMatch(frame, { kind: 'request', op: 'setWatches' }))
        expect(new Set(set.map(({ client }) => client))).to.have.property('size', 11)
        expect(world.frames.some(({ kind }) => kind === 'notification')).to.equal(false)
      },
    ],
    cutOffFollower: [
      world => {
        expect(textsOf(world, 2).at(-1)).to.equal('/a has version 1 now')
        expect(modesOf(world)).to.deep.equal(['follower', 'follower', 'leader'])
        expect(clientOf(world, 1).server).to.equal(1)
      },
      world => expect(textsOf(world, 1).at(-1)).to.match(/“old”$/),
      world => {
        expect(textsOf(world, 1).at(-1)).to.match(/“new”$/)
        expect(clientOf(world, 1)).to.include({ state: 'connected' })
        expect(clientOf(world, 1).server).not.to.equal(1)
        expect(world.picture().servers[0]?.mode).to.equal('looking')
      },
      world => {
        expect(
          world.frames.some(({ client, kind, direction }) => client === 1 && kind === 'connect' && direction === 'up'),
        ).to.equal(true)
        const nodes = world.picture().servers.map(server => server.nodes.find(({ path }) => path === '/a')?.text)
        expect(nodes).to.deep.equal(['new', 'new', 'new'])
      },
    ],
    twoHolders: [
      (world, before) => {
        expect(world.picture().servers[0]?.mode).to.equal('follower')
        expect(world.frames.slice(before).some(frame => isMatch(frame, { client: 1, op: 'sync' }))).to.equal(true)
      },
      (world, before) => {
        const answers = world.frames.slice(before).filter(frame => isMatch(frame, { client: 1, kind: 'answer' }))
        expect(answers.map(({ op, server }) => [op, server])).to.deep.equal([['multi', 3]])
        expect(rolesOf(world)).to.deep.equal(['holding', 'waiting'])
      },
      world => {
        const at = (client: number, text: RegExp) =>
          clientOf(world, client).journal.find(entry => text.test(entry.text))?.at ?? NaN
        expect(at(1, /has lost the lock/)).to.be.below(at(2, /holds the lock/))
        expect(rolesOf(world)).to.deep.equal(['lost', 'holding'])
      },
    ],
  })
})
