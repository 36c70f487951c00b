// The manifest and the declarations of the tarball, checked by the linters of packages.
import { expect } from 'chai'
import { run, userWithPackage, type User } from './user.ts'

describe('the tarball', () => {
  let user: User

  before(async function () {
    this.timeout(300_000)
    user = await userWithPackage()
  })

  it('has code, sources, documents and examples, and nothing else', () => {
    const shipped = new Set(user.files.map(path => path.replace(/^(dist|src|docs|examples)\/.*/, '$1')))
    const documents = ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs', 'examples']
    expect([...shipped]).to.have.members(['dist', 'src', 'package.json', ...documents])
  })

  it('has the notices of the packages that the page of the playground contains', () => {
    expect(user.files).to.include.members(['dist/playground.html', 'dist/third-party-notices.txt'])
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
