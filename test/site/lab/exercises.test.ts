// The exercises of the editor: the judge finds what is broken, and accepts what is right.
import { expect } from 'chai'
import { lessonIn } from '../../../site/lessons/lesson-link.ts'
import { EXERCISES, exerciseIn, exerciseLinkOf, programOf } from '../../../site/lab/exercises.ts'
import { verdictOf } from '../../../site/lab/judge.ts'
import { readDocument } from '../../support/document.ts'
import { runProgram } from '../support/in-process-world.ts'

const judged = async (text: string, clients: number) => {
  const world = await runProgram(text, { clients })
  const picture = world.picture()
  await world.close()
  return { ...verdictOf(picture), notifications: picture.counters.all.byKind.notification }
}

describe('an exercise', () => {
  for (const exercise of EXERCISES) {
    const { id, clients, symptom } = exercise

    it(`is broken as it says: ${id}`, async () => {
      const { overlaps, outside, unfinished, failures, notifications } = await judged(exercise.broken, clients)
      expect(failures).to.deep.equal([])
      expect(overlaps.length > 0, 'overlaps').to.equal(symptom === 'overlap')
      expect(outside.length > 0, 'outside').to.equal(symptom === 'never enters')
      expect(unfinished).to.deep.equal(outside)
      if (symptom === 'herd') expect(notifications).to.be.above((clients * (clients - 1)) / 2)
    })

    it(`is mended by its solution: ${id}`, async () => {
      const { notifications, ...verdict } = await judged(exercise.solution, clients)
      expect(verdict).to.deep.equal({ overlaps: [], entries: clients, outside: [], unfinished: [], failures: [] })
      if (symptom === 'herd') expect(notifications).to.be.below(clients)
    })

    it(`has at most thirty lines, which fit into the editor: ${id}`, () => {
      for (const text of [exercise.broken, exercise.solution]) {
        const lines = text.split('\n')
        expect(lines.length).to.be.at.most(30)
        expect(Math.max(...lines.map(line => line.length))).to.be.at.most(70)
      }
    })

    it(`has a link for each of its programs: ${id}`, () => {
      for (const part of ['broken', 'solution'] as const)
        expect(exerciseIn(exerciseLinkOf(id, part))).to.deep.equal(programOf(exercise, part))
    })
  }

  it('is on the page for teachers with its task, its link and its solution, and on the sheet', () => {
    const page = readDocument('docs/teaching.md')
    const sheet = readDocument('docs/teaching-sheet.md')
    for (const { id, title, task, solution } of EXERCISES) {
      for (const part of [title, task, `\`#exercise=${id}\``, `\`\`\`js\n${solution}\`\`\``])
        expect(page).to.contain(part)
      expect(sheet).to.contain(`\`#exercise=${id}\``)
    }
  })

  it('is on these two pages by a link that leads to it, and so is each lesson', () => {
    for (const page of ['docs/teaching.md', 'docs/teaching-sheet.md']) {
      const codes = [...readDocument(page).matchAll(/`#((?:lesson|exercise)=[^`]+)`/g)].map(([, code = '']) => code)
      expect(codes).to.have.length.above(10)
      for (const code of codes) expect(lessonIn(code) ?? exerciseIn(code), code).not.to.equal(undefined)
    }
  })

  it('that does not exist has no link', () => {
    for (const link of ['exercise=', 'exercise=none', 'exercise=owner.', 'exercise=owner.solution.solution'])
      expect(() => exerciseIn(link), link).to.throw(/^The exercise of the link does not exist\.$/)
    expect(exerciseIn('program=x')).to.equal(undefined)
  })
})
