// The search: a dialog that opens by its button, by "/" or by Ctrl+K. Enter opens the first result; the arrows
// lead to the others. The index is loaded when it opens for the first time.
import type MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'
import { excerptOf, find, type Findable, type Indexed } from '../search-fields.ts'
import { openIndex } from '../search-index.ts'

declare global {
  var zkwireSearchIndex: string | undefined
}

const MOST = 20

type Hit = SearchResult & Findable

/** Loads the index by a script element, which also works for pages that are files. */
function loadIndex(root: string): Promise<MiniSearch<Indexed>> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.addEventListener('load', () => resolve(openIndex(globalThis.zkwireSearchIndex ?? '')))
    script.addEventListener('error', () => reject(new Error('the index of the search cannot be loaded')))
    document.head.append(script)
  })
}

export function offerSearch(button: HTMLButtonElement): void {
  const root = button.dataset['root'] ?? ''
  const { dialog, input, list, status } = makeDialog()
  let index: Promise<MiniSearch<Indexed>> | undefined
  const search = async (): Promise<void> => {
    const words = input.value.trim()
    const loaded = await index
    const found = words === '' || loaded === undefined ? [] : find(loaded, words)
    if (words !== input.value.trim()) return // the reader has typed on
    list.replaceChildren(...found.slice(0, MOST).map(hit => itemOf(hit as Hit, root)))
    status.textContent =
      words === '' ? '' : found.length === 0 ? `Nothing found for “${words}”` : `${found.length} found`
  }

  const report = (error: unknown): void => {
    status.textContent = String(error)
  }

  const open = (): void => {
    index ??= loadIndex(root)
    index.catch(report)
    if (!dialog.open) dialog.showModal()
    input.select()
  }

  button.hidden = false
  button.addEventListener('click', open)
  input.addEventListener('input', () => void search().catch(report))
  dialog.addEventListener('keydown', event => {
    const stops = [input, ...list.querySelectorAll('a')]
    const at = stops.indexOf(event.target as HTMLInputElement)
    if (event.key === 'ArrowDown') stops[at + 1]?.focus()
    else if (event.key === 'ArrowUp') stops[at - 1]?.focus()
    else if (event.key === 'Enter' && event.target === input) stops[1]?.click()
    // Otherwise the first Escape only empties the field.
    else if (event.key === 'Escape') dialog.close()
    else return
    event.preventDefault()
  })
  // A click beside the dialog closes it. So does a link within the page, which otherwise would stay covered.
  dialog.addEventListener('click', event => {
    if (event.target === dialog || (event.target as Element).closest('a') !== null) dialog.close()
  })
  addEventListener('keydown', event => {
    const isTyping = (event.target as Element).closest('input, textarea, select, [contenteditable]') !== null
    const isKey = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
    if (!isKey) return
    event.preventDefault()
    open()
  })
}

function makeDialog() {
  const dialog = make('dialog', { class: 'search', 'aria-label': 'Search' })
  const input = make('input', {
    ...{ type: 'search', placeholder: 'Search guides and API', 'aria-label': 'Search guides and API' },
    ...{ autocomplete: 'off', spellcheck: 'false' },
  })
  const list = make('ul', { 'aria-label': 'Results' })
  const status = make('p', { role: 'status' })
  dialog.append(input, status, list)
  document.body.append(dialog)
  return { dialog, input, list, status }
}

function itemOf({ address, title, page, text: all, terms }: Hit, root: string): HTMLElement {
  const item = make('li', {})
  const link = make('a', { href: root + address })
  const heading = make('strong', {})
  heading.textContent = title
  const where = make('small', {})
  where.textContent = page === title ? '' : page
  const text = make('span', {})
  text.textContent = excerptOf(all, terms)
  link.append(heading, ' ', where, text)
  item.append(link)
  return item
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string>,
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}
