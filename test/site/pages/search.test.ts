// The search of the site: the order of what it finds, and the excerpts.
import { expect } from 'chai'
import { excerptOf, find, type Indexed } from '../../../site/pages/search-fields.ts'
import { openIndex } from '../../../site/pages/search-index.ts'
import { builtSite } from './built-site.ts'

describe('the search of the site', function () {
  this.timeout(120_000)
  let index: ReturnType<typeof openIndex>

  before(async () => {
    const script = String((await builtSite()).get('search-index.js'))
    const [, text = ''] = /^globalThis\.zkwireSearchIndex = (.*)\n$/.exec(script) ?? []
    index = openIndex(JSON.parse(text) as string)
  })

  for (const words of ['live config', 'health check', 'cron', 'session timeout', 'holder', 'watch', 'renamed option'])
    it(`puts the changelog behind all else: ${words}`, () => {
      const pages = find(index, words).map(({ address }) => String(address).startsWith('changelog.html'))
      expect(pages).to.include(false)
      expect(pages.slice(pages.indexOf(true) + 1 || pages.length)).not.to.include(false)
    })

  it('still finds the changelog', () => {
    expect(find(index, 'changelog').map(({ address }) => String(address))).to.include('changelog.html')
  })

  it('shows a part of each text in which the words occur', () => {
    for (const words of ['live config', 'health check', 'cron', 'garbage collection', 'leap'])
      for (const hit of find(index, words).slice(0, 20)) {
        const { text, terms, match } = hit as typeof hit & Indexed
        const inText = terms.filter(term => match[term]?.includes('text'))
        const excerpt = excerptOf(text, terms).toLowerCase()
        expect(inText.length === 0 || inText.some(term => excerpt.includes(term)), `${words}: ${excerpt}`).to.equal(
          true,
        )
      }
  })
})

describe('an excerpt', () => {
  const filler = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(' ')

  it('is the beginning of a text that has the words there, or not at all', () => {
    const text = `A live config. ${filler(60)}`
    expect(excerptOf(text, ['config'])).to.equal(text.slice(0, 160))
    expect(excerptOf(text, ['title'])).to.equal(text.slice(0, 160))
    expect(excerptOf('', ['title'])).to.equal('')
  })

  it('begins a little before the words, between two of them, and has as many of them as possible', () => {
    const text = `${filler(40)} config ${filler(40)} the Live config ${filler(40)}`
    expect(excerptOf(text, ['live', 'config'])).to.match(/^… word\d+ .* the Live config word0/)
    expect(excerptOf(text, ['config'])).to.match(/^… word\d+ .*word39 config word0/)
  })

  it('does not take a part of a word for it', () => {
    expect(excerptOf(`${filler(40)} reconfigure ${filler(40)} config`, ['config'])).to.match(/config$/)
  })
})
