// What the search indexes and how, for the builder and for the page.
import type MiniSearch from 'minisearch'
import type { Options, SearchResult } from 'minisearch'

/** What the list of results shows. */
export interface Found {
  /** From the root of the site. */
  address: string
  title: string
  /** The title of the page. */
  page: string
}

/** A part of a page that can be found by its words. */
export interface Findable extends Found {
  text: string
}

export interface Indexed extends Findable {
  id: number
}

const WORD = /[\p{L}\p{N}_$-]+/gu

export const fields: Options<Indexed> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['address', 'title', 'page', 'text'],
  // Names in code are found as they are and by their parts: "acquire" finds "Mutex.acquire()".
  tokenize: text => text.match(WORD) ?? [],
  searchOptions: {
    boost: { title: 5, page: 2 },
    prefix: true,
    fuzzy: word => (word.length > 4 ? 0.2 : 0),
    combineWith: 'AND',
  },
}

/** So many characters of a message tell it from others. */
const BEGINNING = 20

/** The length of an excerpt, and how much of it may stand before the first word that was found, in characters. */
const EXCERPT = 160
const LEAD = 40

/**
 * Returns the part of a text that has most of the words that were found in it; its beginning if it has none.
 * @param terms the words, in lower case
 */
export function excerptOf(text: string, terms: readonly string[]): string {
  const places = [...text.toLowerCase().matchAll(WORD)].flatMap(({ 0: word, index }) =>
    terms.includes(word) ? [{ word, index }] : [],
  )
  const wordsFrom = (start: number) =>
    new Set(places.filter(({ index }) => index >= start && index < start + EXCERPT - LEAD).map(({ word }) => word)).size
  const most = Math.max(0, ...places.map(({ index }) => wordsFrom(index)))
  const first = places.find(({ index }) => wordsFrom(index) === most)
  if (first === undefined || first.index + first.word.length <= EXCERPT) return text.slice(0, EXCERPT)
  const start = text.lastIndexOf(' ', first.index - LEAD) + 1
  return `… ${text.slice(start, start + EXCERPT)}`
}

/** What was, and is no more, is seldom what a reader looks for. */
const isOfChangelog = (hit: SearchResult): boolean => String(hit['address']).startsWith('changelog.html')

/**
 * Returns what has all the words, the best first, and the changelog last. If nothing has all of them, returns what has some: the message of an
 * error also has a path. The section of an error begins with its message, so a section whose beginning is in the words,
 * or that has them in this order, comes first.
 */
export function find(index: MiniSearch<Indexed>, words: string): SearchResult[] {
  const all = index.search(words)
  const any = all.length > 0 ? all : index.search(words, { combineWith: 'OR', fuzzy: false, prefix: false })
  const found = [...any.filter(hit => !isOfChangelog(hit)), ...any.filter(isOfChangelog)]
  const asked = words.toLowerCase()
  if (asked.length < BEGINNING) return found
  const isMeant = (hit: SearchResult) => {
    const text = String(hit['text']).slice(0, EXCERPT).toLowerCase()
    return text.includes(asked) || (text.length >= BEGINNING && asked.includes(text.slice(0, BEGINNING)))
  }
  return [...found.filter(isMeant), ...found.filter(hit => !isMeant(hit))]
}
