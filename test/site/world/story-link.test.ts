import { expect } from 'chai'
import fc from 'fast-check'
import { LinkError, linkOf, storyOf } from '../../../site/world/story-link.ts'
import { LIMITS, type Intervention, type Story } from '../../../site/world/story.ts'
import { seed } from '../../support/seeded-random.ts'
import { stories } from '../support/arbitrary-story.ts'

const story: Story = {
  scenario: { recipe: 'mutex', clients: 3, servers: 1, seed: 7 },
  commands: [
    { after: 46, at: 70, do: { kind: 'release', client: 1 } },
    { after: 52, at: 90, do: { kind: 'call', client: 2, call: { op: 'set', path: '/a.b', data: 'x;y' } } },
  ],
  frames: 60,
}
const link = '1;mutex;3;1;7;60;46.70.r.1;6.20.a.2.s./a%2Eb.x%3By'

/** Returns the story of the link, or undefined if it is refused as a link. Anything else that is thrown fails the test. */
function storyIn(text: string): Story | undefined {
  try {
    return storyOf(text)
  } catch (error) {
    expect(error).to.be.instanceOf(LinkError)
    expect((error as Error).message).to.match(/^[A-Z][a-z -9]+\.$/)
    return undefined
  }
}

describe('a link', () => {
  it('is short and readable', () => {
    expect(linkOf(story)).to.equal(link)
    expect(storyOf(link)).to.deep.equal(story)
  })

  it('holds the time after the last frame, if there is any', () => {
    const later = link.replace(';60;', ';60.2000;')
    expect(linkOf({ ...story, later: 2000 })).to.equal(later)
    expect(storyOf(later)).to.deep.equal({ ...story, later: 2000 })
    expect(storyIn(link.replace(';60;', ';60.0;'))).to.equal(undefined)
    expect(storyIn(link.replace(';60;', ';60.1.1;'))).to.equal(undefined)
  })

  it('names the observer beside three servers, which commands can name too', () => {
    const observed = link.replace('3;1;7', '3;3.1;7').replace('r.1', 'h.4')
    expect(storyOf(observed).scenario.servers).to.equal('3 and an observer')
    expect(linkOf(storyOf(observed))).to.equal(observed)
    for (const servers of ['3', '3.0', '3.2', '1.1', '3.1.0', '4'])
      expect(storyIn(observed.replace('3.1', servers)), servers).to.equal(undefined)
  })

  it('gives back each story', () =>
    fc.assert(
      fc.property(stories, each => {
        const text = linkOf(each)
        expect(text).to.match(/^[\w;./%-]+$/)
        expect(storyOf(text)).to.deep.equal(each)
      }),
      { seed },
    ))

  it('is refused, with a sentence that repeats nothing of it, or has one spelling only, whatever it contains', () => {
    const pieces = fc.constantFrom(
      ...Array.from('0123456789.;%/rjkclesuwadRohg-'),
      '%2E',
      '%00',
      '%ff',
      '1e3',
      '__proto__',
      '<b>',
      '\u0000',
    )
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 60 }).map(all => all.join('')),
    )
    // Changes a link in one place, or only adds to it.
    const changed = fc
      .tuple(stories.map(linkOf), fc.nat(), fc.nat(3), fc.oneof(pieces, fc.constant('')))
      .map(([text, at, length, piece]) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + piece + text.slice(start + length)
      })
    const headed = anything.map(text => `1;mutex;3;1;7;60;${text}`)
    fc.assert(
      fc.property(fc.oneof(anything, headed, changed), text => {
        const found = storyIn(text)
        if (found !== undefined) expect(linkOf(found)).to.equal(text)
      }),
      { seed, numRuns: 2000 },
    )
  })

  const refused: Readonly<Record<string, string>> = {
    nothing: '',
    'another version': link.replace('1;', '2;'),
    'a recipe that does not exist': link.replace('mutex', 'toString'),
    'no client': link.replace('mutex;3', 'mutex;0'),
    '61 clients': link.replace('mutex;3', 'mutex;61'),
    'two servers': link.replace('3;1;7', '3;2;7'),
    'a seed of 33 bits': link.replace(';7;', ';4294967296;'),
    'a negative seed': link.replace(';7;', ';-7;'),
    'a number with a leading zero': link.replace(';7;', ';07;'),
    'too many frames': link.replace(';60;', ';20001;'),
    'a client that does not exist': link.replace('r.1', 'r.4'),
    'a server that does not exist': link.replace('r.1', 'h.2'),
    'a command that does not exist': link.replace('r.1', 'z.1'),
    'a value too many': link.replace('r.1', 'r.1.1'),
    'a value too few': link.replace('.x%3By', ''),
    'a path that is none': link.replace('/a%2Eb', 'a'),
    'a path that is too long': link.replace('/a%2Eb', `/${'a'.repeat(LIMITS.path)}`),
    'data that are too long': link.replace('x%3By', 'x'.repeat(LIMITS.data + 1)),
    'a malformed escape': link.replace('%3B', '%3'),
    'bytes that are no UTF-8': link.replace('%3B', '%ff'),
    'an escape that need not be': link.replace('x%3By', '%78'),
    'times whose sum is too late': `${link};0.${LIMITS.at}.r.1`,
    'frames whose sum is too large': `${link};${LIMITS.frames}.0.r.1`,
    'too many commands': `1;mutex;3;1;7;60${';0.0.r.1'.repeat(LIMITS.commands + 1)}`,
    'too many characters': `${link};${'a'.repeat(LIMITS.link)}`,
  }
  for (const [what, text] of Object.entries(refused))
    it(`is refused if it has ${what}`, () => expect(storyIn(text)).to.equal(undefined))

  it('has as many commands as the limit allows', () => {
    const commands = Array.from({ length: LIMITS.commands }, (): Intervention => ({
      after: 0,
      at: 0,
      do: { kind: 'release', client: 1 },
    }))
    expect(storyOf(linkOf({ ...story, commands }))).to.deep.equal({ ...story, commands })
    expect(() => linkOf({ ...story, commands: [...commands, ...commands] })).to.throw(LinkError, 'at most 200 commands')
  })
})
