// Data for a script of the page.
import { Html } from './html.ts'

/** Escapes '<', so that no text can end the script element. */
export const jsonOf = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))
