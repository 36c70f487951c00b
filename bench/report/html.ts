// HTML templates that escape the inserted values.

/** A piece of HTML. Templates insert it unescaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

type Value = string | number | Html | readonly Html[]

/** A template tag. Escapes each inserted value unless it is {@link Html}. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.map((part, i) => part + (i < values.length ? render(values[i] ?? '') : '')).join(''))

function render(value: Value): string {
  if (value instanceof Html) return value.text
  return Array.isArray(value) ? value.join('') : escaped(String(value))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, character => ESCAPES[character] ?? '')
