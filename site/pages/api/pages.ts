// The pages of the API reference: one for each entry point and for each of its names.
import { html, type Html } from '../../../bench/report/html.ts'
import type { Heading, Linking, Markdown } from '../markdown.ts'
import type { Entry, EntryPoint, Member, Signature } from './reference.ts'

export interface ApiPage {
  path: string
  title: string
  description: string
  content: Html
  headings: readonly Heading[]
  /** What the search finds: the page itself, and each member. */
  passages: readonly { anchor: string; title: string; text: string }[]
}

const KINDS = {
  class: 'Classes',
  function: 'Functions',
  interface: 'Interfaces',
  type: 'Types',
  constant: 'Constants',
  namespace: 'Namespaces',
} as const

const ORDER = ['constructor', 'property', 'method']

/** The address of the page about a name. */
export const addressOf = (entryPoint: string, name: string): string => `api/${folderOf(entryPoint)}/${name}.html`

export const folderOf = (entryPoint: string): string => entryPoint.replace('/', '-')

/** Where to find each name. If several entry points declare a name, the first owns it. */
export function addressesOf(entryPoints: readonly EntryPoint[]): Map<string, string> {
  const addresses = new Map<string, string>()
  for (const { name: entryPoint, entries } of entryPoints)
    for (const { name, alsoIn } of entries)
      if (alsoIn === undefined && !addresses.has(name)) addresses.set(name, addressOf(entryPoint, name))
  return addresses
}

export class ApiPages {
  readonly #markdown: Markdown
  readonly #linking: Linking

  /** @param linking for pages that are two folders below the root */
  constructor(markdown: Markdown, linking: Linking) {
    this.#markdown = markdown
    this.#linking = linking
  }

  /** The page of an entry point: its names by kind, each with its first sentence. */
  entryPoint({ name, entries }: EntryPoint, about: string): ApiPage {
    const kinds = Object.entries(KINDS).filter(([kind]) => entries.some(entry => entry.kind === kind))
    const groups = Object.entries(KINDS).map(([kind, title]) => {
      const own = entries.filter(entry => entry.kind === kind)
      if (own.length === 0) return html``
      return html`<section>
        <h2 id="${title.toLowerCase()}">${title}</h2>
        <dl class="names">
          ${own.map(
            entry =>
              html`<div>
                <dt>
                  <a href="../../${addressOf(entry.alsoIn ?? name, entry.name)}"><code>${entry.name}</code></a>
                </dt>
                <dd>${this.#inline(firstSentence(entry.signatures[0]?.text ?? ''))}</dd>
              </div>`,
          )}
        </dl>
      </section>`
    })
    return {
      path: `api/${folderOf(name)}/index.html`,
      title: name,
      description: about,
      content: html`<p class="crumbs"><a href="../index.html">API</a></p>
        <h1>${name}</h1>
        <p>${this.#inline(about)}</p>
        ${groups}`,
      headings: kinds.map(([, title]) => ({ level: 2, title, anchor: title.toLowerCase() })),
      passages: [{ anchor: '', title: name, text: about }],
    }
  }

  page(entryPoint: string, entry: Entry): ApiPage {
    const { name, kind, members, entries, signatures } = entry
    const anchored = [...members]
      .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
      .map(member => ({ member, anchor: anchorOf(member, members) }))
    const inside = entries.map(each => ({ entry: each, anchor: each.name }))
    const listed = [
      ...anchored.map(({ member, anchor }) => ({ anchor, title: titleOf(member) })),
      ...inside.map(each => ({ anchor: each.anchor, title: each.entry.name })),
    ]
    const text = signatures.map(each => each.text).join(' ')
    return {
      path: addressOf(entryPoint, name),
      title: name,
      description: plain(firstSentence(text)) || `${name} of ${entryPoint}`,
      content: html`<p class="crumbs"><a href="../index.html">API</a> / <a href="index.html">${entryPoint}</a></p>
        <h1><code>${name}</code> <small class="kind">${kind}</small></h1>
        ${signatures.map(each => this.#signature(each, name))}
        ${
          listed.length < 4
            ? html``
            : html`<ul class="members">
                ${listed.map(
                  ({ anchor, title }) =>
                    html`<li>
                      <a href="#${anchor}"><code>${title}</code></a>
                    </li>`,
                )}
              </ul>`
        }
        ${anchored.map(({ member, anchor }) => this.#part(anchor, titleOf(member), member.signatures))}
        ${inside.map(each => this.#part(each.anchor, each.entry.name, each.entry.signatures))}`,
      headings: listed.map(each => ({ level: 2, ...each })),
      passages: [
        { anchor: '', title: name, text: plain(text) },
        ...anchored.map(({ member, anchor }) => ({
          anchor,
          title: member.kind === 'constructor' ? `new ${name}()` : `${name}.${titleOf(member)}`,
          text: plain(member.signatures.map(each => each.text).join(' ')),
        })),
        ...inside.map(each => ({
          anchor: each.anchor,
          title: `${name}.${each.entry.name}`,
          text: plain(each.entry.signatures.map(({ text }) => text).join(' ')),
        })),
      ],
    }
  }

  #part(anchor: string, title: string, signatures: readonly Signature[]): Html {
    return html`<section class="member">
      <h2 id="${anchor}">
        <code>${title}</code> <a class="anchor" href="#${anchor}" aria-label="Link to “${title}”">#</a>
      </h2>
      ${signatures.map(each => this.#signature(each))}
    </section>`
  }

  /** @param own the name of the page, which is no link */
  #signature({ code, text, parameters, returns, throws, defaults, examples }: Signature, own?: string): Html {
    const told = parameters.filter(parameter => parameter.text !== '')
    const facts = [
      ...(defaults === ''
        ? []
        : [
            html`<dt>Default</dt>
              <dd>${this.#inline(defaults)}</dd>`,
          ]),
      ...told.map(
        each =>
          html`<dt><code>${each.name}</code></dt>
            <dd>${this.#inline(each.text)}</dd>`,
      ),
      ...(returns === ''
        ? []
        : [
            html`<dt>Returns</dt>
              <dd>${this.#inline(returns)}</dd>`,
          ]),
      ...throws.map(
        (each, i) =>
          html`<dt>${i === 0 ? 'Throws' : 'or'}</dt>
            <dd>${this.#inline(each.replace(/^[A-Z]\w*Error\b/, '`$&`'))}</dd>`,
      ),
    ]
    return html`${this.#markdown.code(code, 'ts', { linkOf: name => (name === own ? undefined : this.#linking.api(name)) })}
    ${text === '' ? html`` : this.#block(text)} ${facts.length === 0 ? html`` : html`<dl class="facts">${facts}</dl>`}
    ${examples.map(
      each =>
        html`<div class="example">
          <p class="label">Example</p>
          ${this.#block(each)}
        </div>`,
    )}`
  }

  #block = (text: string): Html => this.#markdown.render(text, this.#linking).html

  #inline = (text: string): Html => this.#markdown.renderInline(text.replaceAll(/\s*\n\s*/g, ' '), this.#linking)
}

const titleOf = ({ kind, name, signatures }: Member): string =>
  kind === 'constructor'
    ? (/^new \w+/.exec(signatures[0]?.code ?? '')?.[0] ?? 'constructor')
    : kind === 'method'
      ? `${name}()`
      : name

/** Unique, because TypeScript allows no two members of one name, except a static one. */
function anchorOf(member: Member, all: readonly Member[]): string {
  const bare = member.name.replaceAll(/[^\w$]+/g, '-').replaceAll(/^-|-$/g, '')
  const first = all.find(each => each.name === member.name)
  return first === member ? bare : `static-${bare}`
}

const firstSentence = (text: string): string => /^[^]*?[.!?](?=\s+[A-Z`]|\s*$)/.exec(text)?.[0] ?? text

const plain = (text: string): string => text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ').trim()
