import { expect } from 'chai'
import { LESSONS } from '../../../site/lessons/index.ts'
import { piecesOf, TERMS, termsBefore, type Term } from '../../../site/lessons/terms.ts'
import { readDocument } from '../../support/document.ts'

const marked = (text: string, seen = new Set<Term>()) =>
  piecesOf(text, seen)
    .filter(({ term }) => term !== undefined)
    .map(({ text }) => text)

describe('the terms of the lessons', () => {
  it('have the meanings of the glossary', () => {
    const glossary = readDocument('docs/glossary.md').replaceAll("'", '’')
    for (const { words, meaning } of TERMS) expect(glossary).to.contain(`\n| ${words} | ${meaning} |\n`)
  })

  it('occur in a lesson each', () => {
    const used = new Set(LESSONS.flatMap(lesson => [...termsBefore(lesson)]))
    expect(TERMS.filter(term => !used.has(term))).to.deep.equal([])
  })

  it('are all names of messages and requests in the lessons: what else is code is a path, data, or explained there', () => {
    const explained = ['guard()', 'ready', 'one', 'two', 'three', 'old', 'new', 'take', 'release', 'Counter']
    const named = LESSONS.flatMap(({ steps }) => steps).flatMap(({ text, question }) =>
      [text, question?.text ?? '', question?.explanation ?? ''].flatMap(each => piecesOf(each)),
    )
    for (const { text, isCode } of named)
      if (isCode && !text.startsWith('/') && !explained.includes(text))
        expect(
          piecesOf(`\`${text}\``, new Set()).some(({ term }) => term !== undefined),
          text,
        ).to.equal(true)
  })

  it('are marked where they occur first, and only there', () => {
    expect(marked('A frame has an xid. The next frame has another xid.')).to.deep.equal(['frame', 'xid'])
    const seen = new Set<Term>()
    marked('Two nodes, and a session timeout.', seen)
    expect(marked('A node of the session, and its session timeout.', seen)).to.deep.equal(['session'])
  })

  it('are whole words, also in the plural, as code, and at the beginning of a sentence', () => {
    expect(marked('Watches, epochs, `multi`, `/node`, synchronous, transactions')).to.deep.equal([
      ...['Watches', 'epochs', 'multi', 'transactions'],
    ])
  })

  it('leave the text as it is', () => {
    for (const { steps } of LESSONS)
      for (const { text } of steps)
        expect(
          piecesOf(text, new Set())
            .map(({ text, isCode }) => (isCode ? `\`${text}\`` : text))
            .join(''),
        ).to.equal(text)
  })

  it('are those of the steps before, if a lesson is opened at a later one', () => {
    const [lesson] = LESSONS
    if (lesson === undefined) throw new Error('there is no lesson')
    expect(termsBefore(lesson, 1).size).to.equal(0)
    expect(termsBefore(lesson, 3).size).to.be.within(2, termsBefore(lesson).size)
  })
})
