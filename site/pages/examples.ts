// The page with the examples of the package, which the tests run.
import { html, type Html } from '../../bench/report/html.ts'
import { anchorOf } from './document.ts'
import type { Heading, Markdown } from './markdown.ts'

/** @param files the texts of the files, by their names */
export function examples(
  files: ReadonlyMap<string, string>,
  markdown: Markdown,
): { content: Html; headings: Heading[] } {
  const headings = [...files.keys()].map(name => ({ level: 2, title: name, anchor: anchorOf(name) }))
  return {
    headings,
    content: html`<h1>Examples of tests</h1>
      <p>
        The package contains these files. Each of them tests <code>stock.js</code> with a ZooKeeper in memory, in one
        test runner. <a href="testing.html">Testing</a> describes the server that they use.
      </p>
      ${headings.map(
        ({ title, anchor }) =>
          html`<h2 id="${anchor}">${title}</h2>
            ${markdown.code(files.get(title) ?? '', 'js')}`,
      )}`,
  }
}
