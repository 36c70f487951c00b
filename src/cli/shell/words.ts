// Splits a line into words as sh does: spaces separate, quotes and backslashes join.

/** A word, and where it starts in the line. */
interface Word {
  readonly text: string
  readonly start: number
}

export interface Words {
  readonly words: readonly Word[]
  /** The quote that is still open at the end of the line. */
  readonly openQuote: "'" | '"' | undefined
}

export function wordsOf(line: string): Words {
  const words: Word[] = []
  let word: { text: string; start: number } | undefined
  let quote: "'" | '"' | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    // A comment begins with a word.
    if (character === '#' && word === undefined) break
    word ??= { text: '', start: at }
    if (character === quote) quote = undefined
    else if (quote === undefined && (character === "'" || character === '"')) quote = character
    else if (character === '\\' && quote !== "'" && at + 1 < line.length) word.text += line.charAt(++at)
    else word.text += character
  }
  if (word !== undefined) words.push(word)
  return { words, openQuote: quote }
}

/** Writes a word so that {@link wordsOf} reads it as one. */
export const quoted = (text: string): string =>
  text === '' ? "''" : text.replaceAll(/[\s'"\\]|^#/g, character => `\\${character}`)
