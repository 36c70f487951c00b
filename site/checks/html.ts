// Finds what is wrong with a page: invalid HTML by html-validate, obstacles for people with disabilities by axe.
// May import: axe-core, html-validate, yaml.
import { HtmlValidate } from 'html-validate'

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  rules: {
    // Layout of the source: the templates and TypeDoc decide it, and a browser ignores it.
    'attribute-boolean-style': 'off',
    'attribute-empty-style': 'off',
    'doctype-style': 'off',
    'no-inline-style': 'off',
    'no-trailing-whitespace': 'off',
    'void-style': 'off',
    // A list may have a name, and one that scrolls needs it.
    'aria-label-misuse': ['error', { allowAnyNamable: true }],
    // The form of the report computes at each input, and sends nothing.
    'wcag/h32': 'off',
  },
})

/** Returns a sentence for each violation of HTML's rules, with its line and column. */
export async function invalidHtml(page: string): Promise<string[]> {
  const { results } = await validator.validateString(page)
  return results.flatMap(({ messages }) =>
    messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${message} (${ruleId})`),
  )
}
