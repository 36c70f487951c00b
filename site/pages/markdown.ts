// Markdown to HTML, with anchors, highlighted code and tables that scroll on their own.
import MarkdownIt from 'markdown-it'
import { html, Html } from '../../bench/report/html.ts'
import { SCENES, sceneOf } from '../world/scenes.ts'
import { anchors } from './document.ts'
import type { Highlighter } from './highlight.ts'
import { playgroundAddress } from './links.ts'

/** How the names and links of a text become links of a page. */
export interface Linking {
  /** Returns the address of a link. @throws Error if it leads nowhere */
  link(target: string): string
  /** Returns the title of the page to which a link leads, instead of the name of its file. */
  title(target: string): string | undefined
  /** Returns the address of the page about a public name, if there is one. */
  api(name: string): string | undefined
}

export interface Heading {
  level: number
  /** Without Markdown's signs. */
  title: string
  anchor: string
}

/** The part of a page below one heading, for the search. */
export interface Passage {
  heading: Heading
  text: string
}

export interface Rendered {
  html: Html
  headings: readonly Heading[]
  passages: readonly Passage[]
}

export class Markdown {
  readonly #parser = new MarkdownIt({ html: false, linkify: false })
  readonly #highlighter: Highlighter

  constructor(highlighter: Highlighter) {
    this.#highlighter = highlighter
    this.#parser.block.ruler.before('paragraph', 'details', detailsRule, { alt: ['paragraph'] })
  }

  /** Renders the text, with comments of HTML removed. */
  render(text: string, linking: Linking): Rendered {
    const tokens = this.#parser.parse(text.replaceAll(/^<!--.*-->\n/gm, ''), {})
    const anchorOn = anchors()
    const headings: Heading[] = []
    const passages: { heading: Heading; text: string }[] = []
    for (const [i, token] of tokens.entries()) {
      const words = wordsOf(token)
      if (token.type === 'heading_open') {
        const title = wordsOf(tokens[i + 1])
        const heading = { level: Number(token.tag.slice(1)), title, anchor: anchorOn(title) }
        token.attrSet('id', heading.anchor)
        headings.push(heading)
        passages.push({ heading, text: '' })
      } else if (words !== '' && tokens[i - 1]?.type !== 'heading_open') {
        const passage = passages.at(-1)
        if (passage !== undefined) passage.text += `${words} `
      }
    }
    return { html: new Html(this.#renderer(linking).render(tokens, this.#parser.options, {})), headings, passages }
  }

  /** Renders a paragraph's content, without a paragraph around it. */
  renderInline(text: string, linking: Linking): Html {
    return new Html(this.#renderer(linking).render(this.#parser.parseInline(text, {}), this.#parser.options, {}))
  }

  #renderer(linking: Linking) {
    const { renderer } = this.#parser
    const { rules } = renderer
    let depth = 0
    rules.link_open = (tokens, i, options, _, self) => {
      const [token, text] = [tokens[i], tokens[i + 1]]
      const target = String(token?.attrGet('href'))
      const [file = ''] = target.split('#')
      depth++
      token?.attrSet('href', linking.link(target))
      if (text !== undefined && file.endsWith(text.content)) text.content = linking.title(file) ?? text.content
      return self.renderToken(tokens, i, options)
    }
    rules.link_close = (tokens, i, options, _, self) => {
      depth--
      return self.renderToken(tokens, i, options)
    }
    rules.image = tokens => {
      const token = tokens.find(({ type }) => type === 'image')
      const address = linking.link(String(token?.attrGet('src')))
      const picture = html`<img src="${address}" alt="${token?.content ?? ''}" />`
      const scene = SCENES[sceneOf(address) ?? '']
      // The script of the site puts the playground in the place of the picture.
      return String(
        scene === undefined
          ? html`<span class="picture" tabindex="0">${picture}</span>`
          : html`<a class="scene" href="playground.html#${scene.link}">${picture}</a>`,
      )
    }
    rules.heading_open = (tokens, i, options, _, self) => {
      depth++ // no link in a heading besides its own
      return self.renderToken(tokens, i, options)
    }
    rules.heading_close = (tokens, i, options, _, self) => {
      depth--
      const anchor = String(tokens[i - 2]?.attrGet('id'))
      const sign =
        tokens[i]?.tag === 'h1'
          ? ''
          : html` <a class="anchor" href="#${anchor}" aria-label="Link to “${wordsOf(tokens[i - 1])}”">#</a>`
      return `${String(sign)}${self.renderToken(tokens, i, options)}`
    }
    rules.code_inline = (tokens, i) => {
      const text = tokens[i]?.content ?? ''
      const address = depth > 0 ? undefined : (playgroundAddress(text) ?? addressOf(text, linking))
      const code = html`<code>${inTable ? breakable(text) : text}</code>`
      return String(address === undefined ? code : html`<a class="api" href="${address}">${code}</a>`)
    }
    let inTable = false
    rules.table_open = () => {
      inTable = true
      return '<div class="scroll" tabindex="0"><table>'
    }
    rules.table_close = () => {
      inTable = false
      return '</table></div>'
    }
    rules.td_open = (tokens, i, options, _, self) => {
      const length = tokens[i + 1]?.content.length ?? 0
      if (length >= LONG_CELL) tokens[i]?.attrSet('class', 'long')
      else if (length > 0 && length <= SHORT_CELL) tokens[i]?.attrSet('class', 'short')
      return self.renderToken(tokens, i, options)
    }
    // A column without a name has no header cell.
    for (const type of ['th_open', 'th_close'])
      rules[type] = (tokens, i, options, _, self) => {
        const [token, content] = [tokens[i], tokens[type === 'th_open' ? i + 1 : i - 1]]
        if (token !== undefined && content?.content === '') token.tag = 'td'
        else if (type === 'th_open') {
          token?.attrSet('scope', 'col')
          if ((content?.content.length ?? 0) >= LONG_HEADING) token?.attrSet('class', 'long-heading')
        }
        return self.renderToken(tokens, i, options)
      }
    rules.fence = (tokens, i) => {
      const [language = '', file] = (tokens[i]?.info ?? '').trim().split(' ')
      return String(this.code(tokens[i]?.content ?? '', language, { ...(file !== undefined && { file }) }))
    }
    rules.code_block = (tokens, i) => String(this.code(tokens[i]?.content ?? '', 'sh'))
    return renderer
  }

  /** @param options `file`: the name of the file that the code is; `linkOf`: see {@link Highlighter} */
  code(
    code: string,
    language: string,
    { file, linkOf }: { file?: string; linkOf?: (name: string) => string | undefined } = {},
  ): Html {
    const name = file === undefined ? html`` : html`<span class="file">${file}</span>`
    const text = this.#highlighter.highlight(code.trimEnd(), language, linkOf)
    return html`<div class="code">
      ${name}
      <pre tabindex="0"><code>${text}</code></pre>
    </div>`
  }
}

/** Reads the only HTML of the documents: lines with `<details>`, `</details>`, and a whole `<summary>`. */
function detailsRule(state: StateBlock, line: number, _end: number, isTrial: boolean): boolean {
  const text = state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
  const [, slash, summary] = /^(?:<(\/?)details>|<summary>(.*)<\/summary>)$/.exec(text) ?? []
  if (slash === undefined && summary === undefined) return false
  if (isTrial) return true
  state.line = line + 1
  if (summary === undefined) {
    state.push(slash === '/' ? 'details_close' : 'details_open', 'details', slash === '/' ? -1 : 1)
    return true
  }
  state.push('summary_open', 'summary', 1)
  const inline = state.push('inline', '', 0)
  Object.assign(inline, { content: summary, children: [], map: [line, state.line] })
  state.push('summary_close', 'summary', -1)
  return true
}

/** What a rule uses of the state of the parser. */
interface StateBlock {
  src: string
  bMarks: readonly number[]
  tShift: readonly number[]
  eMarks: readonly number[]
  line: number
  push(type: string, tag: string, nesting: 1 | 0 | -1): object
}

/** The number of characters from which on a cell needs some width on a phone. */
const LONG_CELL = 30
/** The number of characters up to which a cell stays in one line, such as `1.00 ± 0.02`. */
const SHORT_CELL = 12
/** A heading of so many characters gets room on a phone, or its lines would make all headings as high. */
const LONG_HEADING = 18

/** Code may be broken after these signs, but not within a name: columns of tables are narrow. */
const breakable = (code: string): Html[] =>
  code.split(/(?<=[/.(=,&|-])(?=\w)/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr />${part}`))

/** Names that are links in a text: `Mutex`, `connect()`, and also `new Mutex()`. Others may be ordinary words. */
function addressOf(text: string, linking: Linking): string | undefined {
  const [, constructed, called] = /^(?:([A-Z]\w+)|(?:new )?(\w+)\(\))$/.exec(text) ?? []
  const name = constructed ?? called
  return name === undefined ? undefined : linking.api(name)
}

interface Token {
  type: string
  content: string
  children: readonly Token[] | null
}

function wordsOf(token: Token | undefined): string {
  if (token === undefined) return ''
  if (token.type === 'inline') return (token.children ?? []).map(wordsOf).join('')
  if (token.type === 'softbreak') return ' '
  return ['text', 'code_inline', 'fence', 'code_block'].includes(token.type) ? token.content : ''
}
