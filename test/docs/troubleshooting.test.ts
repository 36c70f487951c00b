// Checks docs/troubleshooting.md: its codes and messages are those of the declarations, and each section says the cause
// and what to do.
import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDocument } from '../support/document.ts'
import { ofCalls, ofRecipes } from '../support/error-meanings.ts'
import { withMeanings } from './troubleshooting-page.ts'

const page = readDocument('docs/troubleshooting.md')
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map(section => [/^.*/.exec(section)?.[0] ?? '', section.replaceAll(/\n>? ?/g, ' ')]),
)
const src = join(import.meta.dirname, '..', '..', 'src')
/** The code of each warning, and the file that prints it. */
const warnings = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => readFileSync(join(src, file), 'utf8'))
  .flatMap(text => [...text.matchAll(/code: '(ZKWIRE_\w+)'/g)].map(([, code = '']) => [code, text] as const))

const parts = ['**Cause**: ', '**What to do**: ']

describe('docs/troubleshooting.md', () => {
  it('is what write-troubleshooting.ts makes of the declarations of the errors', () => {
    expect(ofCalls).to.have.length.above(30)
    expect(ofRecipes).to.have.length.above(5)
    expect(withMeanings(page)).to.equal(page)
  })

  it('says the cause and what to do for each code and each warning, and the fate of a call', () => {
    const codes = [...ofCalls, ...ofRecipes, ...warnings].map(([code]) => code)
    for (const code of codes) for (const part of parts) expect(sections.get(code), code).to.include(part)
    for (const [code] of ofCalls) expect(sections.get(code), code).to.include('**Fate**: ')
    expect([...sections.keys()]).to.have.members(codes)
    expect(page).to.not.include('not written yet')
  })

  it('quotes the ends of messages as their sources have them, and explains each that names a host', () => {
    const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
    const text = (file: string) => readFileSync(join(src, file), 'utf8')
    const all = sources.map(text).join('\n')
    const rows = /^## What a server or the network did$([^]*?)^## /m.exec(page)?.[1]?.match(/^\| `.*$/gm) ?? []
    const quotes = rows.flatMap(row =>
      [...(row.split(' | ')[0] ?? '').matchAll(/`(.*?)`/g)].map(([, quote = '']) => quote),
    )
    expect(quotes).to.have.length.above(15)
    for (const part of quotes.flatMap(quote => quote.split('…'))) expect(all).to.include(part.trim())
    const files = [
      'session/servers/failed-attempts.ts',
      'session/servers/system-failures.ts',
      'transport/tls-mismatch.ts',
    ]
    const meanings = [
      ...files
        .map(text)
        .join('')
        .matchAll(/^(?: {2}\w+:|export const CLOSED_EARLY =) '(.*)',?$/gm),
    ]
    expect(meanings).to.have.length.above(7)
    for (const [, meaning = ''] of meanings) expect(quotes).to.include(meaning)
  })

  it('quotes each warning as its source has it', () => {
    expect(warnings).to.have.length.above(1)
    for (const [code, text] of warnings) {
      const quote = / {2}(.*?) {2}- /.exec(sections.get(code) ?? '')?.[1] ?? ''
      const source = text.replaceAll(/' \+\s+'|` \+\s+`|' \+\s+`|` \+\s+'/g, '')
      for (const part of quote.split('…')) expect(source, code).to.include(part.trim())
      expect(quote, code).to.have.length.above(20)
    }
  })
})
