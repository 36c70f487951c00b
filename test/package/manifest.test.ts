// The manifest and the declarations of the tarball, checked by the linters of packages.
import { expect } from 'chai'
import { run, userWithPackage, type User } from './user.ts'

describe('the tarball', () => {
  let user: User

  before(async function () {
    this.timeout(300_000)
    user = await userWithPackage()
  })

  it('passes publint without an error, a warning or a suggestion', async () => {
    const { code, output } = await run(user.directory, '.', 'node-24', `publint run ${user.tarball} --strict`)
    expect(code, output).to.equal(0)
    expect(output).to.match(/^All good!$/m)
  })

  it('resolves to the right code and types for node10, node16, nodenext and bundlers, according to attw', async () => {
    const { code, output } = await run(user.directory, '.', 'node-24', `attw ${user.tarball} --profile strict`)
    expect(code, output).to.equal(0)
    expect(output).to.include('No problems found')
  })
})
