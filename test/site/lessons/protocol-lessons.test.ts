// The lessons about sessions, requests and watches: what they say is what their worlds show.
import { expect } from 'chai'
import * as lessons from '../../../site/lessons/protocol-lessons.ts'
import { explanationOf } from '../../../site/world/wire-frame-words.ts'
import type { World } from '../../../site/world/world.ts'
import { clientOf, itIsTrue, notified, textsOf } from '../support/lesson-facts.ts'

const lastSentence = (world: World) => explanationOf(world.frames.at(-1) as (typeof world.frames)[number]).sentence

describe('the lessons about sessions, requests and watches', () => {
  itIsTrue(lessons, {
    handshake: [
      world => {
        const request = world.frames[0] as (typeof world.frames)[number]
        expect(Buffer.from(request.bytes).readBigInt64BE(4 + 4 + 8 + 4)).to.equal(0n)
        expect(lastSentence(world)).to.match(/^server gives session 0x.* with a timeout of 10000 ms$/)
      },
      world => {
        const [before, ping] = world.frames.slice(-2)
        expect(ping).to.include({ kind: 'ping', direction: 'up' })
        expect((ping?.sentAt ?? 0) - (before?.sentAt ?? 0)).to.be.closeTo(3000, 10)
      },
      world => {
        expect(clientOf(world, 1).state).to.equal('expired')
        expect(world.picture().servers[0]?.sessions).to.deep.equal([])
      },
    ],
    order: [
      (world, before) => {
        const [requests, answers] = [world.frames.slice(before - 3, before), world.frames.slice(before)]
        expect(answers.map(({ xid }) => xid)).to.deep.equal(requests.map(({ xid }) => xid))
        expect(answers.map(({ answers: n }) => n)).to.deep.equal(requests.map(({ n }) => n))
      },
      world =>
        expect(textsOf(world, 1).slice(-3)).to.satisfy(
          ([created, missing, read]: string[]) =>
            created === 'created /a' && /NONODE/.test(missing ?? '') && /“one”/.test(read ?? ''),
        ),
    ],
    oneShotWatch: [
      (world, before) => {
        expect(notified(world, before)).to.deep.equal([1])
        expect(world.picture().servers[0]?.watches).to.deep.equal([])
      },
      world => {
        expect(textsOf(world, 1).at(-1)).to.equal('/a has version 2 and the data “three”')
        expect(textsOf(world, 1).join()).not.to.include('two')
        expect(clientOf(world, 1).watches).to.have.length(1)
      },
    ],
  })
})
