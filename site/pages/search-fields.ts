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
  excerpt: string
}

export const fields: Options<Indexed> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['address', 'title', 'page', 'excerpt'],
  // Names in code are found as they are and by their parts: "acquire" finds "Mutex.acquire()".
  tokenize: text => text.split(/[^\p{L}\p{N}_$-]+/u).filter(word => word !== ''),
  searchOptions: {
    boost: { title: 5, page: 2 },
    prefix: true,
    fuzzy: word => (word.length > 4 ? 0.2 : 0),
    combineWith: 'AND',
  },
}

/** So many characters of a message tell it from others. */
const BEGINNING = 20

/**
 * Returns what has all the words, the best first. If nothing has all of them, returns what has some: the message of an
 * error also has a path. The section of an error begins with its message, so a section whose beginning is in the words,
 * or that has them in this order, comes first.
 */
export function find(index: MiniSearch<Indexed>, words: string): SearchResult[] {
  const all = index.search(words)
  const found = all.length > 0 ? all : index.search(words, { combineWith: 'OR', fuzzy: false, prefix: false })
  const asked = words.toLowerCase()
  if (asked.length < BEGINNING) return found
  const isMeant = (hit: SearchResult) => {
    const text = String(hit['excerpt']).toLowerCase()
    return text.includes(asked) || (text.length >= BEGINNING && asked.includes(text.slice(0, BEGINNING)))
  }
  return [...found.filter(isMeant), ...found.filter(hit => !isMeant(hit))]
}
