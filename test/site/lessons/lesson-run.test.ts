import { expect } from 'chai'
import { LESSONS } from '../../../site/lessons/index.ts'
import { answerOf, type Lesson } from '../../../site/lessons/lesson.ts'
import { LessonRun } from '../../../site/lessons/lesson-run.ts'

/** Chooses what is right, if the step asks. */
async function answer(run: LessonRun): Promise<void> {
  const question = run.lesson.steps[run.view.step - 1]?.question
  if (question !== undefined) await run.choose(answerOf(question))
}

describe('a lesson', () => {
  const [lesson] = LESSONS as [Lesson]

  it('says why a choice is wrong, and shows nothing before the right one is found', async () => {
    const run = await LessonRun.open(lesson)
    await run.next()
    const frames = run.world.frames.length
    for (const chosen of [[0], [0, 1]]) {
      await run.choose(chosen.at(-1) ?? NaN)
      const [, why] = lesson.steps[1]?.question?.choices[chosen.at(-1) ?? NaN] ?? []
      expect(run.view.question).to.deep.include({ chosen, objection: why, answer: undefined })
      expect(run.view.hasNext).to.equal(false)
    }
    expect(run.world.frames).to.have.length(frames)
    await run.choose(2)
    expect(run.view.question).to.deep.include({ chosen: [0, 1, 2], objection: undefined })
    expect(run.view.question?.answer?.choice).to.equal(2)
    expect(run.view.hasNext).to.equal(true)
    await run.close()
  })

  it('ignores a choice that was made before, and each one after the answer', async () => {
    const run = await LessonRun.open(lesson)
    await run.next()
    for (const choice of [0, 0, 2, 1]) await run.choose(choice)
    expect(run.view.question?.chosen).to.deep.equal([0, 2])
    await run.close()
  })

  it('does not go on before its question is answered', async () => {
    const run = await LessonRun.open(lesson)
    await run.next()
    expect(run.view).to.deep.include({ step: 2, hasNext: false })
    await run.next()
    expect(run.view.step).to.equal(2)
    await run.choose(2)
    await run.next()
    expect(run.view.step).to.equal(3)
    await run.close()
  })

  it('ignores a choice that does not exist', async () => {
    const run = await LessonRun.open(lesson)
    await run.next()
    await run.choose(7)
    expect(run.view.question?.chosen).to.deep.equal([])
    await run.close()
  })

  it('does not go on while it plays', async () => {
    const run = await LessonRun.open(lesson)
    const [first, second] = [run.next(), run.next()]
    expect(run.isPlaying).to.equal(true)
    await Promise.all([first, second])
    expect(run.view.step).to.equal(2)
    const choosing = run.choose(2)
    expect(run.view.question).to.deep.include({ chosen: [2], answer: undefined })
    await choosing
    await run.close()
  })

  it('has the same frames each time', async () => {
    const bytes = async () => {
      const run = await LessonRun.open(lesson)
      while (!run.view.isOver) {
        await answer(run)
        await run.next()
      }
      await run.close()
      return run.world.frames.map(frame => Buffer.from(frame.bytes).toString('hex'))
    }
    expect(await bytes()).to.deep.equal(await bytes())
  })

  it('is right that a herd of twice as many costs four times as many bytes', async () => {
    const found = LESSONS.find(({ id }) => id === 'herd') as Lesson
    const costOf = async (clients: number) => {
      const run = await LessonRun.open({ ...found, scenario: { ...found.scenario, clients } })
      await answer(run)
      const { bytes } = run.world.picture().counters.thisRelease
      await run.close()
      return bytes
    }
    expect((await costOf(48)) / (await costOf(24))).to.be.within(3.3, 4.3)
  })

  it('is right that the list of the chain grows with the queue, and that a release of tickets costs as much with any', async () => {
    const costOf = async (id: string, clients: number) => {
      const found = LESSONS.find(each => each.id === id) as Lesson
      const run = await LessonRun.open({ ...found, scenario: { ...found.scenario, clients } })
      await answer(run)
      const { counters } = run.world.picture()
      await run.close()
      return counters.thisRelease.bytes
    }
    expect((await costOf('chain', 48)) / (await costOf('chain', 24))).to.be.within(1.6, 2.1)
    expect(await costOf('tickets', 48)).to.equal(await costOf('tickets', 24))
  })
})
