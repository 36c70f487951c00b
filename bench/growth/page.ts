// The page with the plots: a single HTML file without external resources.
import { html, type Html } from '../report/html.ts'
import { renderPage } from '../report/page.ts'
import { plot } from '../report/plots.ts'
import type { Machine } from '../output/result.ts'
import { populations, type Population } from './workloads.ts'
import type { Finding } from './verdict.ts'
import { summaryOf, tableOf, verdictOf } from './table.ts'

export function pageOf(findings: readonly Finding[], machine: Machine, date: Date): Promise<string> {
  return renderPage(
    'What grows, and what does not',
    html`<main>
      <h1>What grows, and what does not</h1>
      <p>
        The cost of one operation as the number of calls, watches, sessions or bytes grows, as a ratio to the smallest
        size in the same round: medians of the rounds with 95 % intervals. A constant cost is a horizontal line at 1. A
        cost that grows with a power of the size is a rising straight line. Node ${machine.node} on ${machine.cores}
        cores of ${machine.cpu}, ${date.toISOString().slice(0, 10)}.
        <strong>${summaryOf(findings)}</strong>
      </p>
      ${populations.map(population => section(population, findings))}
      <section aria-labelledby="figures">
        <h2 id="figures">All figures</h2>
        <div class="scroll" tabindex="0">
          <pre>${tableOf(findings)}</pre>
        </div>
      </section>
    </main>`,
  )
}

function section({ name, label }: Population, findings: readonly Finding[]): Html {
  const some = findings.filter(({ workload }) => workload.population === name)
  if (some.length === 0) return html``
  return html`<section aria-labelledby="${name}">
    <h2 id="${name}">${label}</h2>
    <ul>
      ${some.map(finding => html`<li><b>${finding.workload.probe}</b>, ${finding.workload.about}: ${verdictOf(finding)}</li>`)}
    </ul>
    <div class="plots">
      ${plot({
        title: 'Cost of an operation, as a ratio to the smallest size',
        x: { label, format: name === 'frames' ? binary : decimal },
        y: 'ratio',
        format: ratio => ratio.toFixed(2),
        summary: some.map(finding => `${finding.workload.probe}: ${verdictOf(finding)}`).join('. '),
        series: some.map(({ workload, levels }, style) => ({
          name: workload.probe,
          style,
          points: levels.map(({ size, ratio }) => ({ x: size, y: ratio.middle, low: ratio.low, high: ratio.high })),
        })),
      })}
    </div>
  </section>`
}

const decimal = (size: number): string =>
  size >= 1_000_000 ? `${size / 1_000_000}M` : size >= 1000 ? `${size / 1000}k` : String(size)

const binary = (size: number): string =>
  size >= 1_048_576 ? `${size / 1_048_576} MiB` : size >= 1024 ? `${size / 1024} KiB` : String(size)
