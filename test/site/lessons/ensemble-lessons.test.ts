// The lessons about servers that agree: what they say is what their worlds show.
import { expect } from 'chai'
import * as lessons from '../../../site/lessons/ensemble-lessons.ts'
import { observer } from '../../../site/lessons/observer-lesson.ts'
import type { World } from '../../../site/world/world.ts'
import { clientOf, itIsTrue, modesOf, textsOf } from '../support/lesson-facts.ts'

/** From and to which servers the messages of this kind were sent since the clients connected. */
const sent = (world: World, kind: string) => {
  const connected = world.frames.filter(({ kind, direction }) => kind === 'connect' && direction === 'down')
  const since = Math.max(...connected.map(({ sentAt }) => sentAt))
  return world.messages.filter(each => each.kind === kind && each.sentAt > since).map(({ from, to }) => [from, to])
}

/** The nodes that clients have created, by server. */
const nodesOf = (world: World) =>
  world.picture().servers.map(({ nodes }) => nodes.map(({ path }) => path).filter(path => path !== '/'))

/** The votes that servers sent to others, and for which server. */
const votesIn = (world: World) =>
  world.messages.filter(({ kind }) => kind === 'vote').map(({ from, fields }) => `${from} for ${fields['leader']}`)

const lastFieldsOf = (world: World, kind: string) => world.messages.findLast(each => each.kind === kind)?.fields ?? {}

describe('the lessons about servers that agree', () => {
  itIsTrue(
    { ...lessons, observer },
    {
      quorum: [
        world => {
          expect(sent(world, 'request')).to.deep.equal([[1, 3]])
          expect(sent(world, 'proposal')).to.deep.equal([])
        },
        world => {
          expect(sent(world, 'proposal')).to.deep.equal([
            [3, 1],
            [3, 2],
          ])
          expect(sent(world, 'commit')).to.deep.equal([
            [3, 1],
            [3, 2],
          ])
          // Neither follower has applied what is not committed yet.
          expect(nodesOf(world)).to.deep.equal([[], [], ['/a']])
        },
        world => {
          expect(textsOf(world, 1).at(-1)).to.equal('created /b')
          expect(nodesOf(world)).to.deep.equal([['/a', '/b'], ['/a'], ['/a', '/b']])
        },
        world => {
          expect(clientOf(world, 2).requests).to.have.length(1)
          expect(nodesOf(world)).to.deep.equal([['/a', '/b'], ['/a'], ['/a', '/b']])
        },
        world => {
          expect(textsOf(world, 2).at(-1)).to.equal('created /c')
          expect(nodesOf(world)[0]).to.deep.equal(['/a', '/b', '/c'])
          expect(nodesOf(world)[1]).to.deep.equal(['/a'])
        },
      ],
      election: [
        world => {
          expect(nodesOf(world)).to.deep.equal([[], [], []])
          expect(votesIn(world)).to.deep.equal(['1 for 1', '2 for 2'])
          expect(world.now).to.be.within(5000, 7000)
        },
        world => {
          expect(votesIn(world).at(-1)).to.equal('1 for 2')
        },
        world => {
          expect(modesOf(world)).to.deep.equal(['follower', 'leader', 'looking'])
          expect(clientOf(world, 2).server).to.equal(2)
          expect(textsOf(world, 1).at(-1)).to.equal('created /kept')
          expect(nodesOf(world)).to.deep.equal([['/kept'], ['/kept'], []])
          expect(world.picture().servers.map(({ zxid }) => zxid.slice(0, 3))).to.deep.equal(['0x2', '0x2', '0x1'])
        },
        world => {
          expect(lastFieldsOf(world, 'trunc')['zxid']).to.contain('epoch 1')
          expect(lastFieldsOf(world, 'diff')['transactions']).to.match(/^0x200000001: create \/kept$/)
          expect(modesOf(world)[2]).to.equal('looking')
        },
        world => {
          expect(votesIn(world).slice(-3)).to.include.members(['3 for 3', '3 for 1'])
          expect(nodesOf(world)).to.deep.equal([['/b', '/kept'], ['/b', '/kept'], ['/kept']])
        },
        world => {
          expect(modesOf(world)).to.deep.equal(['leader', 'follower', 'follower'])
          expect(nodesOf(world)[2]).to.deep.equal(['/b', '/kept'])
          expect(lastFieldsOf(world, 'newLeader')['newEpoch']).to.equal('3')
        },
      ],
      catchUp: [
        world => {
          expect(lastFieldsOf(world, 'diff')['transactions']).to.match(/^0x\w+: create \/a$/)
          expect(sent(world, 'snap')).to.deep.equal([])
        },
        world => {
          expect(sent(world, 'snap')).to.deep.equal([[3, 1]])
          expect(modesOf(world)[0]).to.equal('looking')
        },
        world => {
          const nodes = world.picture().servers.map(server => server.nodes.find(({ path }) => path === '/a')?.text)
          expect(nodes).to.deep.equal(['write 22', 'write 22', 'write 22'])
          expect(modesOf(world)).to.deep.equal(['follower', 'follower', 'leader'])
        },
      ],
      observer: [
        world => {
          expect(clientOf(world, 1).server).to.equal(4)
          expect(sent(world, 'request')).to.deep.equal([[4, 3]])
          expect(sent(world, 'proposal')).to.deep.equal([
            [3, 1],
            [3, 2],
          ])
        },
        world => {
          expect(sent(world, 'ack').map(([from]) => from)).to.not.include(4)
          expect(sent(world, 'inform')).to.deep.equal([[3, 4]])
          // The observer has not applied it yet, and the leader has after the first ack.
          expect(nodesOf(world).slice(2)).to.deep.equal([['/a'], []])
        },
        world => {
          expect(clientOf(world, 1).requests).to.have.length(1)
          expect(modesOf(world)).to.deep.equal(['follower', 'follower', 'leader', 'observer'])
          expect(nodesOf(world)).to.deep.equal([['/a'], ['/a'], ['/a'], ['/a']])
          expect(sent(world, 'inform')).to.deep.equal([[3, 4]])
        },
        world => {
          expect(textsOf(world, 1)).to.include('created /b')
          expect(modesOf(world)).to.deep.equal(['follower', 'leader', 'follower', 'observer'])
          expect(votesIn(world).filter(vote => vote.startsWith('4 '))).to.satisfy((votes: string[]) =>
            votes.every(vote => vote === '4 for 0'),
          )
          expect(votesIn(world).filter(vote => vote.endsWith(' for 4'))).to.deep.equal([])
        },
      ],
    },
  )
})
