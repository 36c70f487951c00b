import { expect } from 'chai'
import fc from 'fast-check'
import { resolvePath } from '../../../src/cli/shell/node-path.ts'
import { quoted, wordsOf } from '../../../src/cli/shell/words.ts'

const texts = (line: string) => wordsOf(line).words.map(({ text }) => text)

describe('the words of a line', () => {
  it('are split at spaces, and joined by quotes and backslashes', () => {
    expect(texts(String.raw`get  /a\ b 'c "d'  "e 'f" g"h i"j ""`)).to.deep.equal([
      'get',
      '/a b',
      'c "d',
      "e 'f",
      'gh ij',
      '',
    ])
    expect(texts(String.raw`'a\b' "a\"b" a\\b end\ `)).to.deep.equal([String.raw`a\b`, 'a"b', String.raw`a\b`, 'end '])
  })

  it('end before a comment, which starts a word', () => {
    expect(texts('get /a#b # comment "')).to.deep.equal(['get', '/a#b'])
    expect(texts('# comment')).to.deep.equal([])
  })

  it('know where they start, and which quote is open', () => {
    expect(wordsOf('get  "/a b')).to.deep.equal({
      words: [
        { text: 'get', start: 0 },
        { text: '/a b', start: 5 },
      ],
      openQuote: '"',
    })
    expect(wordsOf("it's").openQuote).to.equal("'")
    expect(wordsOf("'it'").openQuote).to.equal(undefined)
  })

  it('are read as they were quoted, for any words', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), words => {
        expect(texts(words.map(quoted).join(' '))).to.deep.equal(words)
      }),
    )
  })
})

describe('a path in a shell', () => {
  it('belongs to the current node unless it is absolute, and has no dots', () => {
    for (const [text, path] of [
      ['c', '/a/b/c'],
      ['/c', '/c'],
      ['.', '/a/b'],
      ['', '/a/b'],
      ['..', '/a'],
      ['../../../..', '/'],
      ['../c/./d', '/a/c/d'],
      ['/', '/'],
      ['//c//d', '/c/d'],
    ] as const)
      expect(resolvePath('/a/b', text), text).to.equal(path)
    expect(resolvePath('/', 'c')).to.equal('/c')
  })

  it('keeps a slash at its end, which is the empty name of a new sequential node', () => {
    expect(resolvePath('/a', 'c/')).to.equal('/a/c/')
    expect(resolvePath('/a', '/')).to.equal('/')
    expect(resolvePath('/a', '../')).to.equal('/')
  })
})
