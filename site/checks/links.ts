// Finds links of a site that lead nowhere, and resources from elsewhere.
import { posix } from 'node:path'

/** The attributes with addresses. */
const ADDRESS = /<(a|link|script|img|source|iframe)\b[^>]*?\s(?:href|src)="([^"]*)"/g
const ID = /\sid="([^"]*)"/g

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/**
 * Returns a sentence for each link whose file or anchor does not exist, and for each resource that is not a file of the
 * site. Links of other sites are not followed. An anchor of a page without that id is accepted if `readsItsAnchor`.
 * @param files the contents by their paths
 */
export function deadLinks(
  files: ReadonlyMap<string, string | Uint8Array>,
  readsItsAnchor: (path: string) => boolean,
): string[] {
  const ids = new Map<string, Set<string>>()
  const textOf = (path: string): string => {
    const content = files.get(path)
    return typeof content === 'string' ? content : ''
  }
  const idsOf = (path: string): Set<string> => {
    const known = ids.get(path) ?? new Set([...textOf(path).matchAll(ID)].map(([, id = '']) => unescaped(id)))
    ids.set(path, known)
    return known
  }
  const problemOf = (from: string, element: string, address: string): string | undefined => {
    if (/^[a-z]+:|^\/\//.test(address)) return element === 'a' ? undefined : 'is a resource of another site'
    const [path = '', anchor] = address.split('#')
    if (path.startsWith('/')) return 'does not start at its page, so the site works at one address only'
    const target = path === '' ? from : posix.join(posix.dirname(from), path)
    if (!files.has(target)) return 'leads to no file'
    if (anchor === undefined || readsItsAnchor(target)) return undefined
    return idsOf(target).has(decodeURIComponent(anchor)) ? undefined : 'leads to no heading'
  }
  return [...files.keys()].flatMap(path =>
    !path.endsWith('.html')
      ? []
      : [...textOf(path).matchAll(ADDRESS)].flatMap(([, element = '', address = '']) => {
          const problem = problemOf(path, element, unescaped(address))
          return problem === undefined ? [] : `${path}: ${address} ${problem}`
        }),
  )
}
