// Colours code while the site is built. The output has classes and no style attributes, because the content security
// policy forbids those.
import { createCssVariablesTheme, createHighlighter, type BundledLanguage } from 'shiki'
import { html, Html } from '../../bench/report/html.ts'

/** The languages of code blocks, by the names that the documents use. */
const LANGUAGES: Readonly<Record<string, BundledLanguage>> = {
  ts: 'ts',
  js: 'js',
  java: 'java',
  python: 'python',
  json: 'json',
  sh: 'shellscript',
  console: 'shellsession',
  toml: 'toml',
  yaml: 'yaml',
  dockerfile: 'docker',
}

/** Languages that are shown without colours. */
const PLAIN = ['', 'text', 'txt']

export interface Highlighter {
  /**
   * Returns the code as HTML.
   * @param linkOf returns the address of a name in the code, if it has one
   * @throws Error if the language is unknown
   */
  highlight(code: string, language: string, linkOf?: (name: string) => string | undefined): Html
}

export async function openHighlighter(): Promise<Highlighter> {
  const theme = createCssVariablesTheme({ name: 'site', variablePrefix: '--code-', variableDefaults: {} })
  const shiki = await createHighlighter({ themes: [theme], langs: Object.values(LANGUAGES) })
  return {
    highlight(code, language, linkOf = () => undefined) {
      if (PLAIN.includes(language)) return html`${code}`
      const lang = LANGUAGES[language]
      if (lang === undefined) throw new Error(`a code block has the unknown language "${language}"`)
      const { tokens } = shiki.codeToTokens(code, { lang, theme: 'site' })
      const lines = tokens.map(line =>
        line.map(({ content, color }) => {
          const kind = /--code-(?:token-)?([\w-]+)/.exec(color ?? '')?.[1] ?? 'foreground'
          if (kind === 'foreground') return linked(content, linkOf)
          const isText = /^(string|comment)/.test(kind)
          return html`<span class="c-${kind}">${isText ? content : linked(content, linkOf)}</span>`
        }),
      )
      return new Html(lines.map(line => line.join('')).join('\n'))
    },
  }
}

const linked = (text: string, linkOf: (name: string) => string | undefined): Html =>
  new Html(
    text
      .split(/(\b[A-Za-z_$]\w*\b)/)
      .map(part => {
        const address = /^[A-Za-z_$]/.test(part) ? linkOf(part) : undefined
        return String(address === undefined ? html`${part}` : html`<a href="${address}">${part}</a>`)
      })
      .join(''),
  )
