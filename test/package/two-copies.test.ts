// Two copies of the package in one process: a program imports it, and a library that it uses requires it.
import { expect } from 'chai'
import { join } from 'node:path'
import { compile } from '../runtimes/bundle.ts'
import { checks } from './two-copies.ts'
import { run, userWithPackage } from './user.ts'

describe('if two copies of the package are loaded in one process,', () => {
  let results: Record<string, string | null>

  before(async function () {
    this.timeout(300_000)
    const { directory } = await userWithPackage()
    await compile(join(import.meta.dirname, 'two-copies.ts'), join(directory, 'two-copies.mjs'))
    const { code, output } = await run(directory, '.', 'node-20', 'node two-copies.mjs run')
    expect(code, output).to.equal(0)
    results = JSON.parse(output) as Record<string, string | null>
  })

  for (const name of Object.keys(checks)) it(name, () => expect(results[name]).to.equal(null))
})
