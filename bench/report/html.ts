// Text that is safe to put into a page.

/** What is HTML already, and is put in as it is. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

type Filling = string | number | Html | readonly Html[]

/** A template: what is filled in and is no HTML yet is escaped. */
export const html = (parts: TemplateStringsArray, ...fillings: readonly Filling[]): Html =>
  new Html(parts.map((part, i) => part + (i < fillings.length ? filled(fillings[i] ?? '') : '')).join(''))

function filled(filling: Filling): string {
  if (filling instanceof Html) return filling.text
  return Array.isArray(filling) ? filling.join('') : escaped(String(filling))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, character => ESCAPES[character] ?? '')
