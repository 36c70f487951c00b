// Checks docs/troubleshooting.md: it has a section for each code of an error and for each warning, with its message.
import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDocument } from '../support/document.ts'
import { ofCalls, ofRecipes } from '../support/error-meanings.ts'

const sections = new Map(
  readDocument('docs/troubleshooting.md')
    .split(/^### /m)
    .slice(1)
    .map(section => [/^.*/.exec(section)?.[0] ?? '', section.replaceAll(/\n>? ?/g, ' ')]),
)

const parts = ['**Cause**: ', '**What to do**: ']

describe('docs/troubleshooting.md', () => {
  it('has a section with the message, the cause, the fate and what to do, for each code of a call', () => {
    expect(ofCalls).to.have.length.above(30)
    for (const [code, meaning] of ofCalls) {
      for (const part of [...parts, '**Fate**: ']) expect(sections.get(code), code).to.include(part)
      expect(sections.get(code), code).to.include(meaning)
    }
  })

  it('has a section with the message, the cause and what to do, for each code of a recipe', () => {
    expect(ofRecipes).to.have.length.above(5)
    for (const [code, meaning] of ofRecipes)
      for (const part of [...parts, meaning]) expect(sections.get(code), code).to.include(part)
  })

  it('has a section for each warning, and no section for what does not exist', () => {
    const src = join(import.meta.dirname, '..', '..', 'src')
    const warnings = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .flatMap(file => [...readFileSync(join(src, file), 'utf8').matchAll(/code: '(ZKWIRE_\w+)'/g)])
      .map(([, code = '']) => code)
    expect(warnings).to.have.length.above(1)
    for (const warning of warnings) for (const part of parts) expect(sections.get(warning), warning).to.include(part)
    expect([...sections.keys()]).to.have.members([...ofCalls, ...ofRecipes].map(([code]) => code).concat(warnings))
  })
})
