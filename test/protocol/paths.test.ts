import { expect } from 'chai'
import fc from 'fast-check'
import { join, nameOf, parentOf, pathProblem } from '../../src/protocol/index.ts'

// That these are ZooKeeper's own rules is shown in java.test.ts.
describe('paths', () => {
  for (const path of [
    '/',
    '/a',
    '/a/b',
    '/...',
    '/.a',
    '/a.',
    '/a/..b',
    '/ ',
    '/zookeeper/quota',
    '/é/中',
    '/\ud7ff\uf900',
  ])
    it(`${JSON.stringify(path)} is valid`, () => expect(pathProblem(path)).to.equal(undefined))

  const problems: readonly [path: string, problem: string][] = [
    ['', 'a path has at least one character'],
    ['a', 'a path starts with /'],
    ['a/b', 'a path starts with /'],
    ['/a/', 'a path does not end with /'],
    ['//', 'a path does not end with /'],
    ['//a', 'an empty node name at 1'],
    ['/a//b', 'an empty node name at 3'],
    ['/.', 'a relative node name at 1'],
    ['/..', 'a relative node name at 1'],
    ['/a/./b', 'a relative node name at 3'],
    ['/a/..', 'a relative node name at 3'],
    ['/\0', 'a character that is not allowed at 1'],
    ['/a\x1f', 'a character that is not allowed at 2'],
    ['/a\x7f', 'a character that is not allowed at 2'],
    ['/a\x9f', 'a character that is not allowed at 2'],
    ['/a\ud800', 'a character that is not allowed at 2'],
    ['/a\uf8ff', 'a character that is not allowed at 2'],
    ['/a\ufff0', 'a character that is not allowed at 2'],
    ['/🦓', 'a character that is not allowed at 1'],
  ]
  for (const [path, problem] of problems)
    it(`${JSON.stringify(path)} is not: ${problem}`, () => expect(pathProblem(path)).to.equal(problem))

  it('may end with a slash, or be one, where the server appends a number', () => {
    expect(pathProblem('/a/', true)).to.equal(undefined)
    expect(pathProblem('/', true)).to.equal(undefined)
    expect(pathProblem('/a/.', true)).to.equal(undefined)
    expect(pathProblem('/a//', true)).to.equal('an empty node name at 3')
    expect(pathProblem('', true)).to.equal('a path has at least one character')
  })

  it('are strings, whatever a caller without types hands in', () => {
    for (const value of [undefined, null, 7, {}, ['/a'], Buffer.from('/a')])
      expect(pathProblem(value as never)).to.equal('a path is a string')
  })

  describe('taken apart', () => {
    const names = fc
      .string({ minLength: 1 })
      .filter(name => pathProblem('/' + name) === undefined && !name.includes('/'))
    const paths = fc.array(names).map(all => '/' + all.join('/'))

    it('are a parent and a name, which make them again', () => {
      fc.assert(
        fc.property(paths, names, (parent, name) => {
          const path = join(parent, name)
          expect(pathProblem(path)).to.equal(undefined)
          expect(parentOf(path)).to.equal(parent)
          expect(nameOf(path)).to.equal(name)
        }),
      )
    })

    it('are valid wherever their parts are', () => {
      expect(join('/', 'a')).to.equal('/a')
      expect(join('/a', 'b')).to.equal('/a/b')
      expect(parentOf('/a')).to.equal('/')
      expect(parentOf('/a/b')).to.equal('/a')
      expect(parentOf('/')).to.equal('/')
      expect(nameOf('/')).to.equal('')
    })
  })
})
