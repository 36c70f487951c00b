import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { catalogue } from './catalogue.ts'
import { plant } from './planted-bug.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

// The bugs themselves are planted by `npm run suite -- planted`, which takes minutes.
describe('the catalogue of planted bugs', () => {
  it('fits the code: the text that each bug replaces occurs in its file exactly once', () => {
    const texts = new Map<string, string>()
    for (const bug of catalogue) {
      const text = texts.get(bug.file) ?? readFileSync(root + bug.file, 'utf8')
      texts.set(bug.file, text)
      expect(plant(text, bug), bug.bug).not.to.equal(text)
    }
  })

  it('names test files that exist, and gives each bug a sentence of its own', () => {
    expect(catalogue.filter(({ caughtBy }) => !existsSync(root + caughtBy))).to.deep.equal([])
    expect(new Set(catalogue.map(({ bug }) => bug)).size).to.equal(catalogue.length)
  })

  it('refuses a bug whose text is missing or occurs twice', () => {
    const bug = { bug: '', file: 'a.ts', from: 'x', to: 'y', caughtBy: '' }
    expect(plant('axb', bug)).to.equal('ayb')
    for (const text of ['ab', 'xx'])
      expect(() => plant(text, bug)).to.throw(/^a\.ts contains "x" [02] times, not once$/)
  })
})
