// Runs axe in a page of a browser.
import axe from 'axe-core'

/** The part of a page of Playwright that is used here. */
export interface OpenPage {
  evaluate(script: string): Promise<unknown>
}

/** Returns a sentence for each violation that axe finds in the page: the rule, and the first elements that break it. */
export async function axeViolations(page: OpenPage): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(
    'axe.run({ resultTypes: ["violations"], preload: false })',
  )) as axe.AxeResults
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html.slice(0, 200))
        .join(' | ')}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ''}`,
  )
}
