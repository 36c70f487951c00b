// The lesson about histories: what it says is what the judge says of its world, and what its servers show.
import { expect } from 'chai'
import { nodeHistoryOf } from '../../../site/history/node-history.ts'
import { history } from '../../../site/lessons/history-lesson.ts'
import { LessonRun } from '../../../site/lessons/lesson-run.ts'
import { answerOf, choicesOf } from '../../../site/lessons/lesson.ts'
import { explanationOf } from '../../../site/world/wire-frame-words.ts'
import type { World } from '../../../site/world/world.ts'
import { clientOf, itIsTrue, modesOf } from '../support/lesson-facts.ts'

/** The operations of a step, and an order of them or the letter of the one without a place. */
function judged(world: World, step: number) {
  const { history: subject } = history.steps[step - 1] ?? expect.fail()
  const { operations, verdict } = nodeHistoryOf(world.picture().operations, subject ?? expect.fail(), true)
  return [
    ...operations.map(({ letter, client, text }) => `${letter} ${client} ${text}`),
    verdict?.order?.map(({ operation }) => operation.letter).join('') ?? `not ${verdict?.misfit?.letter}`,
  ]
}

const textsAt = (world: World, path: string) =>
  world.picture().servers.map(({ nodes }) => nodes.find(node => node.path === path)?.text)

describe('the lesson about histories', () => {
  itIsTrue(
    { history },
    {
      history: [
        world => {
          expect(judged(world, 1)).to.deep.equal(['A 2 set old', 'B 2 set new', 'C 1 get → old', 'ACB'])
          expect([clientOf(world, 1).server, modesOf(world)[0]]).to.deep.equal([1, 'follower'])
        },
        world => {
          expect(judged(world, 2)).to.deep.equal(['A 2 set old', 'B 2 set new', 'C 1 get → old', 'not C'])
          expect(world.picture().servers.map(({ lag }) => lag)).to.deep.equal([1, 0, 0])
          expect(textsAt(world, '/y')).to.deep.equal(['old', 'new', 'new'])
        },
        world => {
          expect(judged(world, 3)).to.deep.equal(['A 2 set old', 'B 2 set new', ' 1 sync', 'C 1 get → new', 'ABC'])
        },
        world => {
          expect(judged(world, 4)).to.deep.equal(['A 2 take → got it', 'B 1 take → got it', 'C 2 release', 'ACB'])
        },
        world => {
          expect(judged(world, 5)).to.deep.equal(['A 2 take → got it', 'B 1 look → free', 'not B'])
        },
        world => {
          const adds = ['A 2 add 1 → 1', 'B 2 add 1 → 2', 'C 1 add 1 → 4', 'D 2 add 1 → 3', 'ABDC']
          expect(judged(world, 6)).to.deep.equal(adds)
          const writes = world.frames.filter(
            ({ client, kind, op }) => client === 1 && kind === 'answer' && op === 'multi',
          )
          const isRefused = writes.map(frame => explanationOf(frame).dump.includes('-103'))
          expect(isRefused).to.deep.equal([true, false])
        },
      ],
    },
  )

  it('would get the old value without `sync`', async () => {
    const run = await LessonRun.open(history, 3)
    expect(textsAt(run.world, '/z')).to.deep.equal(['old', 'new', 'new'])
    await run.close()
  })

  it('has the verdict of the judge as the right choice, and shows it only after the answer', async () => {
    const run = await LessonRun.open(history)
    for (const { question } of history.steps) {
      if (question === undefined) expect.fail('each step asks')
      expect(run.view.history?.operations).to.have.length.above(0)
      expect(run.view.history?.verdict).to.equal(undefined)
      await run.choose(answerOf(question))
      const right = choicesOf(question)[answerOf(question)]
      expect(run.view.history?.verdict?.text).to.match(right?.startsWith('Yes') === true ? /^Legal/ : /^Not legal/)
      await run.next()
    }
    await run.close()
  })
})
