// The rows of "Add a recipe" in CONTRIBUTING.md that no other test enforces, for each recipe of the entry point.
import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as entryPoint from '../../src/recipes/index.ts'
import { readDocument } from '../support/document.ts'

const recipes = Object.entries(entryPoint)
  .filter(([name, value]) => /^[A-Z]/.test(name) && name !== 'RecipeError' && typeof value === 'function')
  .map(([name]) => name)

const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts'))
  .map(file => readFileSync(join(import.meta.dirname, file), 'utf8'))

/** Whether a row of a table names the recipe in its first cell. */
const hasRow = (page: string, recipe: string) =>
  page.split('\n').some(line => line.startsWith('| ') && (line.split(' | ')[0] ?? '').includes(`\`${recipe}\``))

/** What each row of the checklist asks for, by words of the row. */
const rows: Readonly<Record<string, (recipe: string) => boolean>> = {
  'A row in the table “I want to …” of `README.md`': recipe =>
    readDocument('README.md')
      .split('\n')
      .some(line => line.startsWith('| ') && new RegExp(`\`${recipe}[\`(]`).test(line)),
  'A description in `docs/locks.md` or `docs/data.md`': recipe =>
    ['docs/locks.md', 'docs/data.md'].some(page =>
      new RegExp(`\`${recipe}\`|\\bnew ${recipe}\\(`).test(readDocument(page)),
    ),
  'A row in `docs/guarantees.md`': recipe => hasRow(readDocument('docs/guarantees.md'), recipe),
  'A test file in `test/recipes` that makes it': recipe => tests.some(text => text.includes(`new ${recipe}(`)),
}

describe('the checklist “Add a recipe” of CONTRIBUTING.md', () => {
  const section = /^## Add a recipe\n([^]*?)^## /m.exec(readDocument('CONTRIBUTING.md'))?.[1] ?? ''

  for (const [row, isDone] of Object.entries(rows)) {
    it(`is followed by every recipe: ${row}`, () => {
      expect(section).to.include(row)
      expect(recipes).to.have.length.above(15)
      expect(recipes.filter(recipe => !isDone(recipe))).to.deep.equal([])
    })

    it(`notices a recipe that is new and lacks it: ${row}`, () => expect(isDone('NewRecipe')).to.equal(false))
  }

  it('names only test files that exist', () => {
    const files = [...section.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, file = '']) => file)
    expect(files).to.have.length.above(4)
    for (const file of files) expect(readDocument(file), file).to.include('it')
  })
})
