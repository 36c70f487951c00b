// The page on which a reader chooses the axes: a single HTML file, which contains the tables and Observable Plot.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { html, Html } from '../report/html.ts'
import { renderPage } from '../report/page.ts'
import { jsonOf } from '../report/json.ts'
import type { Dataset } from './datasets.ts'

/** @param source says of which runs the tables are */
export async function explorePage(datasets: readonly Dataset[], source: string): Promise<string> {
  const select = (name: string, label: string, options: Html | readonly Html[] = []) =>
    html`<label
      >${label}
      <select name="${name}">
        ${options}
      </select></label
    >`
  const names = datasets.map(({ name }, i) => html`<option value="${i}">${name}</option>`)
  return renderPage(
    'Figures of the benchmarks',
    html`<main>
      <h1>Choose the axes</h1>
      <p>${source}</p>
      <form class="forecast-form">
        <div class="fields">
          ${select('dataset', 'table', names)} ${select('x', 'x axis')} ${select('y', 'y axis')}
          <label><input name="log" type="checkbox" checked /> logarithmic</label>
        </div>
      </form>
      <figure id="plot" role="img" aria-label="the plot"></figure>
      <p role="status" id="shown"></p>
      <script type="application/json" id="datasets">
        ${jsonOf(datasets)}
      </script>
      <script type="module">
        ${await script()}
      </script>
    </main>`,
  )
}

async function script(): Promise<Html> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../report/browser/explore.ts', import.meta.url))],
    ...{ bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', charset: 'utf8' },
  })
  return new Html((outputFiles[0]?.text ?? '').replaceAll('</', '<\\/'))
}
