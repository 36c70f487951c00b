// The exercises of the editor: the judge finds what is broken, and accepts what is right.
import { expect } from 'chai'
import { lessonIn } from '../../../site/lessons/lesson-link.ts'
import { EXERCISES, exerciseIn, exerciseLinkOf, programOf, removedFrom } from '../../../site/lab/exercises.ts'
import { verdictOf } from '../../../site/lab/judge.ts'
import { judgementOn } from '../../../site/playground/model/verdict.ts'
import { readDocument } from '../../support/document.ts'
import { runProgram } from '../support/in-process-world.ts'

const judged = async (text: string, clients: number) => {
  const world = await runProgram(text, { clients })
  const picture = world.picture()
  await world.close()
  return verdictOf(picture)
}

/** What the judge says of an exercise that nobody has mended. */
const NOT_SOLVED = {
  overlap: /^Not solved: \d+ overlaps? in \d+ entries\.$/,
  'never enters': /^Not solved: Clients? [\d and,]+ never entered\. Clients? [\d and,]+ did not end\.$/,
  herd: /^Not solved: \d\d notifications, and one for each client that waits is enough: 11\.$/,
}

describe('an exercise', () => {
  for (const exercise of EXERCISES) {
    const { id, clients, symptom } = exercise

    it(`is broken as it says: ${id}`, async () => {
      const verdict = await judged(exercise.broken, clients)
      const { overlaps, outside, unfinished, failures, notifications } = verdict
      expect(failures).to.deep.equal([])
      expect(overlaps.length > 0, 'overlaps').to.equal(symptom === 'overlap')
      expect(outside.length > 0, 'outside').to.equal(symptom === 'never enters')
      expect(unfinished).to.deep.equal(outside)
      if (symptom === 'herd') expect(notifications).to.be.above((clients * (clients - 1)) / 2)
      const { text, isBad } = judgementOn(verdict, exercise.broken, exercise)
      expect(text).to.match(NOT_SOLVED[symptom])
      expect(isBad).to.equal(true)
    })

    it(`is mended by its solution: ${id}`, async () => {
      const { notifications, ...verdict } = await judged(exercise.solution, clients)
      expect(verdict).to.deep.equal({ overlaps: [], entries: clients, outside: [], unfinished: [], failures: [] })
      if (symptom === 'herd') expect(notifications).to.be.below(clients)
      expect(judgementOn({ notifications, ...verdict }, exercise.solution, exercise)).to.deep.equal({
        text: `Solved: one client at a time, ${clients} entries, each program has ended${symptom === 'herd' ? ', with 11 notifications' : ''}.`,
        isBad: false,
      })
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

  it('keeps what makes it hard: a program that leaves that out, or only comments on it, is noticed', () => {
    for (const exercise of EXERCISES) {
      for (const text of [exercise.broken, exercise.solution]) expect(removedFrom(exercise, text)).to.equal(undefined)
      for (const part of exercise.kept) {
        const line = part.split('\n').at(-1) ?? ''
        expect(removedFrom(exercise, exercise.solution.replace(line, '')), `without ${line}`).to.equal(part)
        expect(removedFrom(exercise, exercise.solution.replace(line, '// $&')), `// ${line}`).to.equal(part)
      }
    }
  })

  it('in which the holder dies is not solved if it does not die, or only when it has left', async () => {
    const exercise = EXERCISES.find(({ id }) => id === 'dead-owner') ?? expect.fail()
    const [death, { broken, solution }] = ['if (me === 1) await kill()\n', exercise]
    const gone = 'Not solved: the program must keep `await sleep(100)` `if (me === 1) await kill()` where it was.'
    for (const text of [broken.replace(death, ''), broken.replace(`${death}leave()\n`, `leave()\n${death}`)])
      expect(judgementOn(await judged(text, exercise.clients), text, exercise).text).to.satisfy(
        (said: string) => said.startsWith(gone),
        text,
      )
    const rewritten = solution.replace(death, 'if (me === 1) { // it dies\n    await kill();\n}\n')
    expect(judgementOn(await judged(rewritten, exercise.clients), rewritten, exercise).text).to.match(/^Solved: /)
  })

  it('of a herd is not solved by a program that asks again and again, nor by one that never enters', async () => {
    const exercise = EXERCISES.find(({ symptom }) => symptom === 'herd') ?? expect.fail()
    const judgement = async (text: string) => judgementOn(await judged(text, exercise.clients), text, exercise).text
    const asking = exercise.solution.replace('if (stat !== null) await gone', 'if (stat !== null) await sleep(20)')
    const polling = asking.replace(', { watch: wake }', '')
    expect(await judgement(polling)).to.match(/^Not solved: no client was/)
    expect(await judgement('await sleep(1)')).to.match(/^Not solved: .* no client called enter\(\)\.$/)
  })

  it('is on the page for teachers with its task and its link, on the sheet, and with its solution only on a page apart', () => {
    const page = readDocument('docs/teaching.md')
    const sheet = readDocument('docs/teaching-sheet.md')
    const solutions = readDocument('docs/teaching-solutions.md')
    for (const { id, title, task, solution } of EXERCISES) {
      for (const part of [title, task, `\`#exercise=${id}\``]) expect(page).to.contain(part)
      for (const part of [title, `\`#exercise=${id}.solution\``, `\`\`\`js\n${solution}\`\`\``])
        expect(solutions).to.contain(part)
      for (const shown of [page, sheet]) expect(shown).not.to.contain(solution.slice(0, 60))
      expect(sheet).to.contain(`\`#exercise=${id}\``)
    }
  })

  it('is on these pages by a link that leads to it, and so is each lesson', () => {
    for (const page of ['docs/teaching.md', 'docs/teaching-sheet.md', 'docs/teaching-solutions.md']) {
      const codes = [...readDocument(page).matchAll(/`#((?:lesson|exercise)=[^`]+)`/g)].map(([, code = '']) => code)
      expect(codes).to.have.length.at.least(10)
      for (const code of codes) expect(lessonIn(code) ?? exerciseIn(code), code).not.to.equal(undefined)
    }
  })

  it('that does not exist has no link', () => {
    for (const link of ['exercise=', 'exercise=none', 'exercise=owner.', 'exercise=owner.solution.solution'])
      expect(() => exerciseIn(link), link).to.throw(/^The exercise of the link does not exist\.$/)
    expect(exerciseIn('program=x')).to.equal(undefined)
  })
})
