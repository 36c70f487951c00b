// The frame of each page: head, menu, contents, footer.
import { createHash } from 'node:crypto'
import { html, type Html } from '../../bench/report/html.ts'
import type { Heading } from './markdown.ts'

export interface MenuEntry {
  title: string
  /** From the root of the site. */
  address: string
}

export interface MenuGroup {
  title: string
  entries: readonly MenuEntry[]
}

export interface Page {
  /** The path of the file, from the root of the site. */
  path: string
  title: string
  /** One sentence about the page, for search engines. */
  description: string
  content: Html
  /** Default: no contents beside the text. */
  headings?: readonly Heading[]
  /** The classes of the element `main`. */
  kind?: string
  /** Paths of style sheets and scripts of this page only. */
  styles?: readonly string[]
  scripts?: readonly string[]
}

/** Returns how one gets from a page to the root of the site: '' or '../'. */
export const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 1)

/** @param menu the groups of the menu; the first entries of each lead to the next */
export function layout(page: Page, menu: readonly MenuGroup[]): string {
  const { path, title, description, content, headings = [], kind = 'guide', styles = [], scripts = [] } = page
  const root = rootFrom(path)
  const isHome = path === 'index.html'
  const inText = headings.filter(({ level }) => level === 2 || level === 3)
  const body = html`<a class="skip" href="#content">Skip to the text</a>
    ${top(root)}
    <div class="frame ${kind}">
      ${isHome ? html`` : menuOf(menu, path, root)}
      <main id="content">${content}${isHome ? html`` : neighbours(menu, path, root)}</main>
      ${inText.length < 2 || kind === 'wide' ? html`` : contentsOf(inText)}
    </div>
    <footer>
      <p>zkwire, a ZooKeeper client for TypeScript. <a href="${root}license.txt">Apache-2.0</a></p>
      <p>
        Apache ZooKeeper and Apache Curator are trademarks of The Apache Software Foundation, which has no part in this.
      </p>
    </footer>`
  return withPolicy(
    String(
      html`<!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <title>${isHome ? title : `${title} · zkwire`}</title>
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <meta name="description" content="${description}" />
            <link rel="icon" href="${root}icon.svg" type="image/svg+xml" />
            ${['site.css', ...styles].map(file => html`<link rel="stylesheet" href="${root}${file}" />`)}
            ${['site.js', ...scripts].map(file => html`<script defer src="${root}${file}"></script>`)}
          </head>
          <body>
            ${body}
          </body>
        </html>`,
    ),
  )
}

/** The top of each page. */
export const top = (root: string): Html =>
  html`<header class="top">
    <a class="logo" aria-label="zkwire: start page" href="${root}index.html">${logo()}<span>zkwire</span></a>
    <nav aria-label="Main">
      <a href="${root}start.html">Guides</a>
      <a href="${root}playground.html">Playground</a>
      <a href="${root}api/index.html">API</a>
    </nav>
    <button type="button" class="search-button" aria-label="Search" data-root="${root}" hidden>
      ${glass()}<span>Search</span><kbd aria-hidden="true">/</kbd>
    </button>
  </header>`

function menuOf(menu: readonly MenuGroup[], path: string, root: string): Html {
  return html`<nav class="menu" aria-label="Pages">
    <details>
      <summary>All pages</summary>
      ${menu.map(
        ({ title, entries }) =>
          html`<section>
            <h2>${title}</h2>
            <ul>
              ${entries.map(entry => html`<li>${linkTo(entry, path, root)}</li>`)}
            </ul>
          </section>`,
      )}
    </details>
  </nav>`
}

const linkTo = ({ title, address }: MenuEntry, path: string, root: string): Html =>
  address === path
    ? html`<a href="${root}${address}" aria-current="page">${title}</a>`
    : html`<a href="${root}${address}">${title}</a>`

const contentsOf = (headings: readonly Heading[]): Html =>
  html`<nav class="contents" aria-label="On this page">
    <h2>On this page</h2>
    <ul>
      ${headings.map(({ level, title, anchor }) => html`<li class="level-${level}"><a href="#${anchor}">${title}</a></li>`)}
    </ul>
  </nav>`

/** Links to the pages before and after this one. */
function neighbours(menu: readonly MenuGroup[], path: string, root: string): Html {
  const entries = menu.flatMap(group => group.entries)
  const at = entries.findIndex(({ address }) => address === path)
  if (at < 0) return html``
  const [before, after] = [entries[at - 1], entries[at + 1]]
  return html`<nav class="neighbours" aria-label="Previous and next page">
    ${before ? html`<a rel="prev" href="${root}${before.address}"><small>Previous</small> ${before.title}</a>` : html``}
    ${after ? html`<a rel="next" href="${root}${after.address}"><small>Next</small> ${after.title}</a>` : html``}
  </nav>`
}

/** The chain of the locks: three links. */
const logo = (): Html =>
  html`<svg viewBox="0 0 32 32" aria-hidden="true" width="28" height="28">
    <g fill="none" stroke="currentColor" stroke-width="3">
      <rect x="3" y="11" width="11" height="10" rx="5" />
      <rect x="18" y="11" width="11" height="10" rx="5" />
      <path d="M11 16H21" stroke="var(--event)" stroke-linecap="round" />
    </g>
  </svg>`

const glass = (): Html =>
  html`<svg viewBox="0 0 20 20" aria-hidden="true" width="18" height="18">
    <g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round">
      <circle cx="8.5" cy="8.5" r="5.5" />
      <path d="M13 13L17.5 17.5" />
    </g>
  </svg>`

/** The icon of the site, as a file. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#9a3b12"/><g fill="none" stroke="#fff" stroke-width="3"><rect x="4" y="11" width="10" height="10" rx="5"/><rect x="18" y="11" width="10" height="10" rx="5"/><path d="M11 16H21" stroke="#ffc9a8" stroke-linecap="round"/></g></svg>\n`

/**
 * Adds a content security policy, which allows the files of the site, and of scripts and styles within the page those
 * that it has now.
 */
export function withPolicy(page: string): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  const elements = [...page.matchAll(/<style[^>]*>([^]*?)<\/style>/g)].map(([, text = '']) => hash(text))
  const attributes = [...page.matchAll(/<[^>]* style="([^"]*)"/g)].map(([, text = '']) => hash(unescaped(text)))
  const own = [...new Set([...elements, ...attributes])]
  const code = [...page.matchAll(/<script type="module">([^]*?)<\/script>/g)].map(([, text = '']) => hash(text))
  const styles = ["'self'", ...(attributes.length > 0 ? ["'unsafe-hashes'"] : []), ...own].join(' ')
  const frames = page.includes('class="scene"') ? "; frame-src 'self'" : ''
  const policy = `default-src 'none'; script-src ${["'self'", ...code].join(' ')}; style-src ${styles}; img-src 'self'${frames}; base-uri 'none'; form-action 'none'`
  return page.replace(
    /<meta charset="utf-8" \/>/,
    charset => `${charset}<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
  )
}
