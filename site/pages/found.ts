// What the search finds in the pages that are not made from documents: the report and the playground.
import { parseHTML } from 'linkedom'
import { COMMANDS } from '../playground/model/words.ts'
import { RECIPES } from '../world/story.ts'
import type { Page } from './layout.ts'
import type { Findable } from './search-fields.ts'

/** What linkedom makes of an element, without the types of a browser. */
interface Parsed {
  id: string
  textContent: string | null
  querySelector(selector: string): Parsed | null
  querySelectorAll(selector: string): Iterable<Parsed>
}

/** Finds each section of the report by its heading and its sentences. The figures of its tables are left out. */
export function foundInReport({
  path,
  title,
  description,
  content,
}: Pick<Page, 'path' | 'title' | 'description' | 'content'>): Findable[] {
  const { document } = parseHTML(`<html><body>${String(content)}</body></html>`) as unknown as { document: Parsed }
  const sections = [...document.querySelectorAll('section[aria-labelledby]')].map(section => {
    const heading = section.querySelector('h2')
    const sentences = [...section.querySelectorAll('p, li, summary, caption, figcaption, h3')]
    return {
      address: `${path}#${heading?.id ?? ''}`,
      title: wordsOf(heading?.textContent),
      page: title,
      text: sentences.map(({ textContent }) => wordsOf(textContent)).join(' '),
    }
  })
  return [{ address: path, title, page: title, text: description }, ...sections]
}

const wordsOf = (text: string | null | undefined): string => (text ?? '').replaceAll(/\s+/g, ' ').trim()

const PLAYGROUND = 'Playground'

/** The playground is drawn in the browser. What one can choose and do there is found by its words. */
export const foundInPlayground: readonly Findable[] = [
  {
    address: 'playground.html',
    title: PLAYGROUND,
    page: PLAYGROUND,
    text: `ZooKeeper in a browser tab: every frame on the wire between clients and servers, with ${Object.values(RECIPES).join(', ')}. ${Object.values(
      COMMANDS,
    )
      .map(({ title, hint }) => `${title}: ${hint}`)
      .join('. ')}.`,
  },
]
