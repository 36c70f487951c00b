// The sections of docs/troubleshooting.md: the code and the message of each come from the declaration of the errors, and
// what to do about it is written by hand.
import { ofCalls, ofRecipes } from '../support/error-meanings.ts'

/** What a new code gets, until somebody has written it. */
const UNWRITTEN = ['Cause', 'Fate', 'What to do'].map(part => `- **${part}**: not written yet`).join('\n')

/** Returns the page with the sections, the order and the messages of the declarations, and with its own advice. */
export function withMeanings(page: string): string {
  const advice = new Map(
    [...page.matchAll(/^### (.*)\n\n(?:>.*\n)+\n((?:[-| ].*\n)+)/gm)].map(([, heading = '', text = '']) => [
      heading,
      text,
    ]),
  )
  const sections = (meanings: typeof ofCalls) =>
    meanings
      .map(
        ([heading, meaning]) => `### ${heading}\n\n> ${meaning}\n\n${(advice.get(heading) ?? UNWRITTEN).trimEnd()}\n\n`,
      )
      .join('')
  const replace = (text: string, chapter: string, meanings: typeof ofCalls) =>
    text.replace(
      new RegExp(`(^## ${chapter}\\n(?:(?!###?).*\\n)*)[^]*?(?=^## |$(?![^]))`, 'm'),
      (_, start: string) => start + sections(meanings),
    )
  return replace(replace(page, 'Errors of calls', ofCalls), 'Errors of recipes', ofRecipes)
}
