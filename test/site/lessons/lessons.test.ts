// What all lessons have in common.
import { expect } from 'chai'
import { LESSONS } from '../../../site/lessons/index.ts'
import { answerOf, choicesOf, type Lesson } from '../../../site/lessons/lesson.ts'
import { oneTrip } from '../../../site/lessons/lock-lessons.ts'
import { isMatch, LessonRun } from '../../../site/lessons/lesson-run.ts'
import { clientOf } from '../support/lesson-facts.ts'

const isText = (choice: unknown): choice is string => typeof choice === 'string'

const textsIn = ({ summary, steps }: Lesson): string[] => [
  summary,
  ...steps.flatMap(({ text, question }) => [
    text,
    ...(question === undefined ? [] : [question.text, question.explanation, ...question.choices.flat()]),
  ]),
]

describe('the lessons', () => {
  it('are at most twenty-five, with ids for links', () => {
    const ids = LESSONS.map(({ id }) => id)
    expect(ids).to.have.length.within(8, 25)
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
