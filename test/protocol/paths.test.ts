import { expect } from 'chai'
import fc from 'fast-check'
import { join, nameOf, parentOf, pathProblem } from '../../src/protocol/index.ts'

// java.test.ts checks that these are ZooKeeper's rules.
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
    ['', 'a path must not be empty'],
    ['a', 'a path must start with /'],
    ['a/b', 'a path must start with /'],
    ['/a/', 'a path must not end with /'],
    ['//', 'a path must not end with /'],
    ['//a', 'the node name at index 1 is empty'],
    ['/a//b', 'the node name at index 3 is empty'],
    ['/.', 'the node name at index 1 must not be . or ..'],
    ['/..', 'the node name at index 1 must not be . or ..'],
    ['/a/./b', 'the node name at index 3 must not be . or ..'],
    ['/a/..', 'the node name at index 3 must not be . or ..'],
    ['/\0', 'the character at index 1 is not allowed'],
    ['/a\x1f', 'the character at index 2 is not allowed'],
    ['/a\x7f', 'the character at index 2 is not allowed'],
    ['/a\x9f', 'the character at index 2 is not allowed'],
    ['/a\ud800', 'the character at index 2 is not allowed'],
    ['/a\uf8ff', 'the character at index 2 is not allowed'],
    ['/a\ufff0', 'the character at index 2 is not allowed'],
    ['/🦓', 'the character at index 1 is not allowed'],
  ]
  for (const [path, problem] of problems)
    it(`${JSON.stringify(path)} is invalid: ${problem}`, () => expect(pathProblem(path)).to.equal(problem))

  it('may end with a slash, or be one, if the server appends a number', () => {
    expect(pathProblem('/a/', true)).to.equal(undefined)
    expect(pathProblem('/', true)).to.equal(undefined)
    expect(pathProblem('/a/.', true)).to.equal(undefined)
    expect(pathProblem('/a//', true)).to.equal('the node name at index 3 is empty')
    expect(pathProblem('', true)).to.equal('a path must not be empty')
  })

  it('is checked again, even if it was valid before a number', () => {
    expect(pathProblem('/a/', true)).to.equal(undefined)
    expect(pathProblem('/a/')).to.equal('a path must not end with /')
  })

  it('must be strings, also for untyped callers', () => {
    for (const value of [undefined, null, 7, {}, ['/a'], Buffer.from('/a')])
      expect(pathProblem(value as never)).to.equal('a path must be a string')
  })

  describe('parents and names', () => {
    const names = fc
      .string({ minLength: 1 })
      .filter(name => pathProblem('/' + name) === undefined && !name.includes('/'))
    const paths = fc.array(names).map(all => '/' + all.join('/'))

    it('are combined to the same path by join()', () => {
      fc.assert(
        fc.property(paths, names, (parent, name) => {
          const path = join(parent, name)
          expect(pathProblem(path)).to.equal(undefined)
          expect(parentOf(path)).to.equal(parent)
          expect(nameOf(path)).to.equal(name)
        }),
      )
    })

    it('are right at the root and directly below it', () => {
      expect(join('/', 'a')).to.equal('/a')
      expect(join('/a', 'b')).to.equal('/a/b')
      expect(parentOf('/a')).to.equal('/')
      expect(parentOf('/a/b')).to.equal('/a')
      expect(parentOf('/')).to.equal('/')
      expect(nameOf('/')).to.equal('')
    })
  })
})
