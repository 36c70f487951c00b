// What others have written, made fit for a message: a terminal or a log obeys control characters.

// eslint-disable-next-line no-control-regex -- these characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Returns the character as JSON writes it, such as `\u001b`. */
export const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Replaces control characters, which could move the cursor or change colours, and those that change the direction of
 * text. Each text goes through this that a message takes over from a server, another client or a file.
 * @param kept characters that stay as they are
 */
export const printable = (text: string, kept = ''): string =>
  text.search(CONTROL) === -1 ? text : text.replace(CONTROL, each => (kept.includes(each) ? each : escapeOf(each)))
