// Plays each lesson to its end, and checks that what the world shows is what the lesson says.
import { expect } from 'chai'
import { LESSONS } from '../../../site/lessons/index.ts'
import { answerOf, choicesOf, type Lesson } from '../../../site/lessons/lesson.ts'
import { oneTrip } from '../../../site/lessons/lock-lessons.ts'
import { isMatch, LessonRun } from '../../../site/lessons/lesson-run.ts'
import type { ClientPicture } from '../../../site/world/picture.ts'
import { explanationOf } from '../../../site/world/wire-frame-words.ts'
import type { World } from '../../../site/world/world.ts'

const clientOf = (world: World, id: number): ClientPicture =>
  world.picture().clients.find(client => client.id === id) as ClientPicture
const rolesOf = (world: World) => world.picture().clients.map(({ role }) => role)
const confirmationsOf = (world: World) => world.picture().clients.map(({ isConfirmed }) => isConfirmed)
const lastSentence = (world: World) => explanationOf(world.frames.at(-1) as (typeof world.frames)[number]).sentence
const releaseOf = (world: World) => world.picture().counters.thisRelease
const textsOf = (world: World, client: number) => clientOf(world, client).journal.map(({ text }) => text)
const storeOf = (world: World) =>
  world.picture().store.writes.map(({ kind, client, isAccepted }) => [kind, client, isAccepted])
const notified = (world: World, since: number): number[] =>
  world.frames
    .slice(since)
    .filter(({ kind }) => kind === 'notification')
    .map(({ client }) => client)

/** From and to which servers the messages of this kind were sent since the clients connected. */
const sent = (world: World, kind: string) => {
  const connected = world.frames.filter(({ kind, direction }) => kind === 'connect' && direction === 'down')
  const since = Math.max(...connected.map(({ sentAt }) => sentAt))
  return world.messages.filter(each => each.kind === kind && each.sentAt > since).map(({ from, to }) => [from, to])
}
/** The nodes that clients have created, by server. */
const nodesOf = (world: World) =>
  world.picture().servers.map(({ nodes }) => nodes.map(({ path }) => path).filter(path => path !== '/'))

const modesOf = (world: World) => world.picture().servers.map(({ mode }) => mode)
/** The votes that servers sent to others, and for which server. */
const votesIn = (world: World) =>
  world.messages.filter(({ kind }) => kind === 'vote').map(({ from, fields }) => `${from} for ${fields['leader']}`)
const lastFieldsOf = (world: World, kind: string) => world.messages.findLast(each => each.kind === kind)?.fields ?? {}

/** For each question of each lesson, what must be true when its answer is shown. `before` is the number of frames before. */
const facts: Readonly<Record<string, readonly ((world: World, before: number) => void)[]>> = {
  'handshake-and-ping': [
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
  'order-of-answers': [
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
  'one-shot-watch': [
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
  'list-after-the-wake-up': [
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
  ],
  'one-trip': [
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
  'stalled-holder': [
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
  'lost-answer': [
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
  ],
  'cut-off-follower': [
    world => {
      expect(textsOf(world, 2).at(-1)).to.equal('/a has version 1 now')
      expect(world.picture().servers.map(({ mode }) => mode)).to.deep.equal(['follower', 'follower', 'leader'])
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
  'herd-of-readers': [
    (world, before) => {
      expect(notified(world, before)).to.have.members([2, 3, 5, 6, 8, 9, 11, 12])
      expect(rolesOf(world).filter(role => role === 'reading')).to.have.length(8)
      const lists = world.frames.slice(before).filter(frame => isMatch(frame, { kind: 'answer', op: 'getChildren2' }))
      expect(lists).to.have.length(8)
    },
    () => undefined, // follows from the eight lists
  ],
  'double-barrier': [
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
  'late-write': [
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
  'catching-up': [
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
  'reconnect-storm': [
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
  'two-holders': [
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
}

/** What must be true at the end of a lesson whose last step asks nothing. */
const ends: Readonly<Record<string, (world: World) => void>> = {
  'list-after-the-wake-up': world => {
    expect(rolesOf(world)[2]).to.equal('holding')
    expect(world.picture().releases[0]?.ms).to.equal(20)
  },
  'lost-answer': world => {
    expect(rolesOf(world)).to.deep.equal(['done', 'holding'])
    expect(world.picture().servers[0]?.nodes.filter(({ path }) => path.startsWith('/lock/'))).to.have.length(1)
  },
}

const isText = (choice: unknown): choice is string => typeof choice === 'string'

const textsIn = ({ summary, steps }: Lesson): string[] => [
  summary,
  ...steps.flatMap(({ text, question }) => [
    text,
    ...(question === undefined ? [] : [question.text, question.explanation, ...question.choices.flat()]),
  ]),
]

describe('the lessons', () => {
  it('are at most twenty, with ids for links', () => {
    const ids = LESSONS.map(({ id }) => id)
    expect(ids).to.have.length.within(8, 20)
    expect(new Set(ids)).to.have.property('size', ids.length)
    for (const id of ids) expect(id).to.match(/^[a-z]+(-[a-z]+)*$/)
  })

  it('do not betray the answers by their places or lengths', () => {
    const questions = LESSONS.flatMap(({ steps }) => steps.flatMap(({ question }) => question ?? []))
    for (const place of [0, 1, 2])
      expect(questions.filter(question => answerOf(question) === place).length / questions.length).to.be.within(
        0.22,
        0.45,
      )
    const part = (isSo: (other: number, right: number) => boolean) =>
      questions.filter(question => {
        const [choices, answer] = [choicesOf(question), answerOf(question)]
        return choices.every((choice, i) => i === answer || isSo(choice.length, choices[answer]?.length ?? NaN))
      }).length / questions.length
    expect(
      part((other, right) => other < right),
      'the right answer is the longest',
    ).to.be.within(0.2, 0.36)
    expect(
      part((other, right) => other > right),
      'the right answer is the shortest',
    ).to.be.within(0.2, 0.45)
  })

  it('say why each choice but one is wrong, each for a reason of its own, and do not name the right one there', () => {
    const questions = LESSONS.flatMap(({ steps }) => steps.flatMap(({ question }) => question ?? []))
    const reasons = questions.flatMap(({ choices }) => choices.flatMap(choice => (isText(choice) ? [] : choice[1])))
    expect(new Set(reasons)).to.have.property('size', reasons.length)
    for (const { choices } of questions) {
      const [right = '', ...others] = choices.filter(isText)
      expect(others).to.deep.equal([])
      // A bare number or word can occur by chance.
      if (!right.includes(' ')) continue
      for (const [, why = ''] of choices.filter(choice => !isText(choice)))
        expect(why.toLowerCase()).not.to.contain(right.toLowerCase())
    }
  })

  it('mark a client that watches three nodes where they say that each waiter does', async () => {
    const run = await LessonRun.open(oneTrip)
    const { text, focus } = run.view
    expect(text).to.contain('watches three nodes')
    expect(clientOf(run.world, (focus as { client: number }).client).watches).to.have.length(3)
    await run.close()
  })

  for (const lesson of LESSONS)
    describe(lesson.title, () => {
      it('is true to its end, and asks before it shows', async () => {
        const run = await LessonRun.open(lesson)
        const checks = [...(facts[lesson.id] ?? [])]
        for (let step = 1; !run.view.isOver; step++) {
          expect(run.view.step).to.equal(step)
          const question = lesson.steps[step - 1]?.question
          if (question !== undefined) {
            expect(run.view).to.deep.include({ hasNext: false, isOver: false })
            expect(run.view.question?.answer).to.equal(undefined)
            await run.next()
            expect(run.view.step).to.equal(step)
            const before = run.world.frames.length
            await run.choose(answerOf(question))
            expect(run.view.question?.answer).to.deep.equal({
              choice: answerOf(question),
              explanation: question.explanation,
            })
            checks.shift()?.(run.world, before)
          }
          await run.next()
        }
        expect(checks).to.deep.equal([])
        ends[lesson.id]?.(run.world)
        expect(run.view.step).to.equal(lesson.steps.length)
        await run.close()
      })

      it('marks what exists', async () => {
        const run = await LessonRun.open(lesson)
        const check = () => {
          const { focus } = run.view
          const { clients, servers } = run.world.picture()
          if (focus === undefined) return
          if ('client' in focus) expect(clients.map(({ id }) => id)).to.include(focus.client)
          else if ('server' in focus) expect(servers.map(({ id }) => id)).to.include(focus.server)
          else if ('node' in focus) expect(servers[0]?.nodes.map(({ path }) => path)).to.include(focus.node)
          else if ('message' in focus)
            expect(run.world.messages.some(message => isMatch(message, focus.message))).to.equal(true)
          else expect(run.world.frames.some(frame => isMatch(frame, focus.frame))).to.equal(true)
        }
        while (!run.view.isOver) {
          check()
          const question = lesson.steps[run.view.step - 1]?.question
          if (question !== undefined) await run.choose(answerOf(question))
          check()
          await run.next()
        }
        await run.close()
      })

      it('has short sentences', () => {
        const sentences = textsIn(lesson).flatMap(text => text.split(/(?<=[.?:])\s+/))
        expect(sentences.filter(sentence => sentence.split(/\s+/).length > 25)).to.deep.equal([])
      })
    })
})
