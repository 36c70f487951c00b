// The parts of a docstring, as Markdown.
import type { Comment, CommentDisplayPart } from 'typedoc'

export interface Described {
  /** What it is or does. */
  text: string
  /** What a call returns. */
  returns: string
  /** One for each `@throws`. */
  throws: readonly string[]
  /** The value that holds by default. */
  defaults: string
  /** One for each `@example`: Markdown with code. */
  examples: readonly string[]
}

export function commentOf(comment: Comment | undefined): Described {
  const all = (tag: string) => (comment?.getTags(`@${tag}`) ?? []).map(({ content }) => markdownOf(content))
  return {
    text: markdownOf(comment?.summary ?? []),
    returns: all('returns').join('\n\n'),
    throws: all('throws'),
    defaults: [...all('default'), ...all('defaultValue')].join(', '),
    examples: all('example'),
  }
}

/** Writes links as code, which becomes a link to the page about that name. */
const markdownOf = (parts: readonly CommentDisplayPart[]): string =>
  parts
    .map(part => (part.kind === 'inline-tag' ? `\`${part.text.trim()}\`` : part.text))
    .join('')
    .trim()
