// The index of the search, which the browser loads as a script, because a page of a file cannot fetch.
import MiniSearch from 'minisearch'
import { fields, type Findable, type Indexed } from './search-fields.ts'

/** @param passages what can be found. Their addresses are unique */
export function searchIndex(passages: readonly Findable[]): string {
  const index = new MiniSearch<Indexed>(fields)
  index.addAll(passages.map((each, id) => ({ id, ...each })))
  // The index is a string in the script: browsers parse JSON faster than JavaScript.
  return `globalThis.zkwireSearchIndex = ${JSON.stringify(JSON.stringify(index))}\n`
}

/** @param json what the script of {@link searchIndex} has assigned */
export const openIndex = (json: string): MiniSearch<Indexed> => MiniSearch.loadJSON<Indexed>(json, fields)
