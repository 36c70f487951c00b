// Where the documents of the repository and their sections are on the site.
import { posix } from 'node:path'
import { exerciseIn } from '../lab/exercises.ts'
import { lessonIn } from '../lessons/lesson-link.ts'
import { guides, type Guide } from './contents.ts'
import { anchors, headingsOf, sectionsOf } from './document.ts'

export interface LinkTable {
  /**
   * Returns the address on the site to which a link of a document leads.
   * @param from the document, as a path from the root of the repository
   * @throws Error if the link leads to a file or a section that is not on the site
   */
  resolve(from: string, link: string): string
  /** Returns the title of the page that is made of the document to which a link leads, if it is one. */
  titleOf(from: string, link: string): string | undefined
}

/**
 * Returns the address of a code such as `#lesson=herd.1`, by which a document names a place of the playground. Undefined
 * if the code is none.
 * @throws LinkError if there is no such place
 */
export function playgroundAddress(code: string): string | undefined {
  const link = code.slice(1)
  const isPlace = code.startsWith('#') && (lessonIn(link) ?? exerciseIn(link)) !== undefined
  return isPlace ? `playground.html${code}` : undefined
}

/** Where the playground is written to in the repository. */
export const PLAYGROUND = 'site/dist/playground.html'

/** How documents tell their readers to open the playground, which is a page of the site. */
const HOW_TO_OPEN_IT = /`npx zkwire playground` serves it\./g

/** Returns the Markdown text of a guide: the sections that it takes, or the whole document. */
export function textOf({ document: path, sections, title }: Guide, text: string): string {
  const document = text.replaceAll(HOW_TO_OPEN_IT, `[Open it](${posix.relative(posix.dirname(path), PLAYGROUND)}).`)
  if (sections === undefined) return document
  const all = sectionsOf(document)
  const taken = sections.map(heading => {
    const section = all.find(each => each.heading === heading)
    if (section === undefined) throw new Error(`there is no section "${heading}"`)
    // The page has a heading already: the title of the document, or that of its only section.
    const text = heading === '' ? section.text.replace(/^# .*\n/, '') : section.text
    return heading === '' || sections.length === 1 ? text : `## ${heading}\n${text}`
  })
  return `# ${title}\n\n${taken.join('\n')}`
}

/**
 * @param documents the texts of the documents, by their paths
 * @param files addresses of other files of the repository that are on the site
 */
export function linkTable(documents: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): LinkTable {
  const addresses = new Map(files)
  const titles = new Map<string, string>()
  for (const guide of guides) {
    const { name, document, sections } = guide
    const text = documents.get(document) ?? ''
    const page = `${name}.html`
    if (sections === undefined || sections[0] === '') addresses.set(document, page)
    if (sections === undefined) titles.set(document, guide.title)
    const anchorOn = anchors()
    for (const heading of headingsOf(textOf(guide, text))) {
      const anchor = anchorOn(heading)
      addresses.set(`${document}#${anchor}`, `${page}#${anchor}`)
    }
    if (sections?.length === 1) addresses.set(`${document}#${anchors()(sections[0] ?? '')}`, page)
  }
  return {
    resolve(from, link) {
      if (/^https?:/.test(link)) return link
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? from : posix.join(posix.dirname(from), path)
      const address = addresses.get(anchor === undefined ? target : `${target}#${anchor}`)
      if (address === undefined) throw new Error(`${from} links to ${link}, which is not on the site`)
      return address
    },
    titleOf: (from, link) => titles.get(posix.join(posix.dirname(from), link)),
  }
}
