// Checks docs/guarantees.md: each recipe and each call has a row, and each row names tests that exist.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../../src/client/client.ts'
import * as recipes from '../../src/recipes/index.ts'
import { readDocument } from '../support/document.ts'

const root = join(import.meta.dirname, '..', '..')
const rows = readDocument('docs/guarantees.md')
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (call|watch|recipe|\|) /.test(line) && !line.startsWith('| | '))
  .map(line => line.slice(2, -2).split(' | '))
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`(\w+)/g)].map(([, name = '']) => name)

describe('docs/guarantees.md', () => {
  it('names in each row tests that exist', () => {
    expect(rows).to.have.length.above(35)
    for (const row of rows) {
      const tests = [...(row.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
      expect(tests, row[0]).not.to.deep.equal([])
      for (const file of tests) expect(existsSync(join(root, file)), file).to.equal(true)
    }
  })

  it('has a row for each recipe', () => {
    const named = new Set(rows.flatMap(([first]) => namesIn(first)))
    const classes = Object.keys(recipes).filter(name => /^[A-Z]/.test(name) && name !== 'RecipeError')
    expect(classes.filter(name => !named.has(name))).to.deep.equal([])
  })

  it('has a row for each call of the client that goes to the server', () => {
    const named = new Set(rows.flatMap(([first]) => namesIn(first)))
    const calls = [Client.prototype, Object.getPrototypeOf(Client.prototype) as object].flatMap(each =>
      Object.getOwnPropertyNames(each),
    )
    // These send nothing, wait, or concern the session itself.
    const others = ['constructor', 'on', 'off', 'states', 'chroot', 'settled', 'whenConnected', 'updateServerList']
    const own = [
      'removeWatches',
      'checkWatches',
      'addAuth',
      'whoAmI',
      'owner',
      'submit',
      'newPace',
      'ensureParent',
      'createWithParents',
    ]
    const getters = ['sessionId', 'sessionPassword', 'sessionTimeout', 'stats', 'root']
    const isCall = (name: string) => /^[a-z]/.test(name) && ![...others, ...own, ...getters].includes(name)
    expect(calls.filter(name => isCall(name) && !named.has(name))).to.deep.equal([])
  })
})
