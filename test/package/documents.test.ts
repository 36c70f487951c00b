// The documents of the package, for a user who has only the package.
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { nodes, run, userWithPackage, write } from './user.ts'

/** The sections of a page, cut at blank lines. A list of commands belongs to the paragraph before it. */
function paragraphsOf(text: string): string[] {
  const paragraphs: string[] = []
  for (const paragraph of text.replaceAll(/^```[^]*?^```$/gm, '').split(/\n{2,}/)) {
    if (paragraph.startsWith('    ') && paragraphs.length > 0) paragraphs.push(`${paragraphs.pop()}\n${paragraph}`)
    else paragraphs.push(paragraph)
  }
  return paragraphs
}

const LINK = /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g
/** Commands that only a clone can run, and paths of files. */
const COMMAND = /\bnpm (?:ci|start|test|run [\w:]+)/g
const PATH = /`((?:test|bench|src|docs|examples)\/[\w./-]+|[A-Z]+\.md)/g

/** The anchors of the headings, as GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

describe('for a user who has only the package,', () => {
  let directory: string
  let files: readonly string[]
  const read = (file: string) => readFileSync(join(directory, 'node_modules', 'zkwire', file), 'utf8')

  before(async function () {
    this.timeout(300_000)
    ;({ directory, files } = await userWithPackage())
  })

  const pages = () => files.filter(file => file.endsWith('.md'))

  it('the package contains the README, the changelog and the guides', () => {
    expect(pages()).to.include.members(['README.md', 'CHANGELOG.md', 'docs/locks.md', 'docs/testing.md'])
  })

  it('each link of a page leads to a file of the package, and to a heading in it', () => {
    const dead: string[] = []
    for (const page of pages())
      for (const [link, target = '', anchor] of read(page).matchAll(LINK)) {
        const file = target === '' ? page : posix.join(posix.dirname(page), target)
        const exists = files.some(each => each === file || each.startsWith(`${file}/`))
        if (!exists || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor))) dead.push(`${page}: ${link}`)
      }
    expect(dead).to.deep.equal([])
  })

  it('a page that names a command or a file that the package lacks says that it is in the repository', () => {
    const unmarked = pages()
      .filter(page => page !== 'CHANGELOG.md')
      .flatMap(page =>
        paragraphsOf(read(page)).flatMap(paragraph => {
          const paths = [...paragraph.matchAll(PATH)].map(([, path = '']) => path)
          const missing = paths.filter(path => !files.some(file => file === path || file.startsWith(`${path}/`)))
          const names = [...(paragraph.match(COMMAND) ?? []), ...missing]
          return /\brepository\b/.test(paragraph) ? [] : names.map(name => `${page}: ${name}`)
        }),
      )
    expect(unmarked).to.deep.equal([])
  })

  describe('the first screen of the README', () => {
    const firstScreen = () => read('README.md').split('\n').slice(0, 30).join('\n')

    it('shows a picture that is in the package', () => {
      const [, picture = ''] = /^!\[[^\]]+\]\((.+)\)$/m.exec(firstScreen()) ?? []
      expect(files).to.include(picture)
      expect(read(picture))
        .to.match(/^<svg [^]*<\/svg>\n$/)
        .and.to.have.length.below(4000)
    })

    it('says how to install the package', () => expect(firstScreen()).to.include('`npm install zkwire`'))

    for (const [name, node] of Object.entries(nodes))
      it(`has ten lines that run on ${name} without a ZooKeeper`, async () => {
        const [, file = ''] = /save this as `([^`]+)`/.exec(firstScreen()) ?? []
        const [, code = ''] = /^```ts\n([^]*?)^```$/m.exec(firstScreen()) ?? []
        expect(code.trim().split('\n')).to.have.length(10)
        await write(directory, { [file]: code })
        const { code: status, output } = await run(directory, '.', node, `node ${file}`)
        expect(output).to.match(/^held with fencing token \d+\n$/)
        expect(status).to.equal(0)
      })
  })
})
