// Checks the pages for those who come from another library: the names in the second column of their tables exist.
import { expect } from 'chai'
import * as zkwire from '../../src/index.ts'
import * as client from '../../src/client/client.ts'
import * as recipes from '../../src/recipes/index.ts'
import * as embedded from '../../src/server/index.ts'
import { readDocument } from '../support/document.ts'

const pages = ['from-curator', 'from-kazoo', 'from-node-zookeeper-client', 'from-zookeeper'].map(
  name => `docs/${name}.md`,
)

/** Returns the second column of the tables: of a section if the page has it, otherwise of the whole page. */
const cellsOf = (page: string): string[] => {
  const text = readDocument(page)
  const [, section = text] = /^## What replaces what\n([^]*?)^## /m.exec(text) ?? []
  return [...section.matchAll(/^\| .+? \| (.+?) \|(?: .*\|)?$/gm)].map(([, cell = '']) => cell)
}

const cells = pages.flatMap(cellsOf)
/** The pieces of code in the second column, such as `client.chroot()`. */
const names = cells.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))

const exported = new Set([zkwire, recipes, embedded].flatMap(module => Object.keys(module)))
/** Types that are no values, because callers do not make their objects. */
const types = ['ServiceProvider']

describe('the pages for those who come from another library', () => {
  it('names only exports and methods of clients that exist', () => {
    expect(names).to.have.length.above(60)
    const unknown = names.filter(code => {
      const method = /^client\.(\w+)/.exec(code)?.[1]
      if (method !== undefined) return !(method in client.Client.prototype)
      const name = /^(?:await )?([A-Za-z]\w+)(?:\(|\.|$)/.exec(code)?.[1]
      return name !== undefined && !exported.has(name) && !types.includes(name) && !isOfAnother(code)
    })
    expect(unknown).to.deep.equal([])
  })

  it('has a row for each recipe that another library has', () => {
    const own = ['RecipeError', 'TicketMutex', 'HerdMutex', 'EphemeralMutex']
    const isNamed = (name: string) => names.some(code => code === name || code.startsWith(`${name}.`))
    const missing = Object.keys(recipes).filter(name => /^[A-Z]/.test(name) && !own.includes(name) && !isNamed(name))
    expect(missing).to.deep.equal([])
  })
})

/** Options, entry points and properties of what the recipes return. */
const isOfAnother = (code: string): boolean =>
  /^(held\.|zkwire\/|parents|followEnsemble|auth$|format|dialect|depth|count|data|onFrame$|onConnectionError$)/.test(
    code,
  )
