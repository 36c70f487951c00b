import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readDocument } from '../support/document.ts'

const root = join(import.meta.dirname, '..', '..')

describe('docs/fault-matrix.md', () => {
  it('names existing test files in each row', () => {
    const rows = readDocument('docs/fault-matrix.md').split('\n').filter(isFaultRow)
    expect(rows).to.have.length.above(40)
    for (const row of rows) {
      const files = [...(row.split(' | ')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
      expect(files, row).not.to.deep.equal([])
      for (const file of files) expect(existsSync(join(root, file)), file).to.equal(true)
    }
  })
})

const isFaultRow = (line: string): boolean => line.startsWith('| ') && !line.startsWith('| fault |')
