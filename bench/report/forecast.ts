// The section that forecasts: a form for the reader's own numbers, the model, and the largest size of the run as forecast.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { adviceOf } from '../model/advice.ts'
import { errorOf, heldOutOf, heldOutSentence, type HeldOut } from '../model/held-out.ts'
import type { Costs, Model, PhaseModel, Term } from '../model/terms.ts'
import { modelOf } from '../model/model.ts'
import { factorOf, type Estimate } from '../model/least-squares.ts'
import { CONDITIONS, MOST_SESSIONS } from '../model/forecast.ts'
import { bitRate, figure } from '../output/figures.ts'
import type { Result } from '../output/result.ts'
import { html, Html } from './html.ts'
import { table } from './tables.ts'

/** Returns empty HTML if no phase was measured with enough sizes. The form needs a lock with times. */
export async function forecastSection(result: Result): Promise<Html> {
  const model = modelOf(result)
  if (model.phases.length === 0) return html``
  const locks = model.phases.filter(({ kind, client }) => kind === 'lock' && client !== undefined)
  const form = await formFor({ ...model, phases: locks })
  return html`<section aria-labelledby="forecasts">
    <h2 id="forecasts">${form === undefined ? 'Other sizes' : 'With your own numbers'}</h2>
    <p>
      The run was fitted with a model of a few parts, which forecasts other
      sizes.${form === undefined ? ' No lock was timed at enough sizes, so none can be recommended.' : ''}
    </p>
    ${form ?? ''} ${heldOutTable(heldOutOf(result))} ${modelTable(model)}
  </section>`
}

/** Returns the form for the reader's own numbers, or undefined if the model has no lock with times. */
async function formFor(model: Model): Promise<Html | undefined> {
  if (model.phases.length === 0) return undefined
  const size = 10 * Math.max(...model.phases.flatMap(({ sizes }) => sizes))
  const { heading, sentences } = adviceOf(model, size, CONDITIONS)
  if (sentences.length === 0) return undefined
  return html`<p>Put in your own numbers: up to a billion contenders.</p>
    <form class="forecast-form" hidden>
      ${fields.map(
        ({ name, label, min, max }) =>
          html`<label>
            ${label}
            <input
              name="${name}"
              type="number"
              required
              step="${min === 2 ? 1 : 'any'}"
              min="${min}"
              max="${max}"
              value="${name === 'size' ? size : valueOf(name)}"
            />
          </label>`,
      )}
    </form>
    <div class="forecast" role="status">
      <p>${heading}</p>
      <ul>
        ${sentences.map(sentence => html`<li>${sentence}</li>`)}
      </ul>
    </div>
    <script type="application/json" id="model">
      ${jsonOf(model)}
    </script>
    <script type="module">
      ${await formScript()}
    </script>`
}

interface Field {
  name: 'size' | keyof typeof CONDITIONS
  label: string
  min: number
  max: number
}

const MEGABIT = 1e6

const fields: readonly Field[] = [
  { name: 'size', label: 'contenders', min: 2, max: MOST_SESSIONS },
  { name: 'lineRate', label: 'line of the server, Mbit/s', min: 0.001, max: 1e7 },
  { name: 'cores', label: 'cores of the server', min: 0.1, max: 1024 },
  { name: 'roundTrip', label: 'round trip, ms', min: 0.001, max: 60_000 },
  { name: 'releases', label: 'releases a second', min: 0.001, max: 1e6 },
]

const valueOf = (name: keyof typeof CONDITIONS): number => CONDITIONS[name] / (name === 'lineRate' ? MEGABIT : 1)

/** Escapes '<', so that no text can end the script element. */
const jsonOf = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))

async function formScript(): Promise<Html> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('browser/forecast.ts', import.meta.url))],
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022', charset: 'utf8', legalComments: 'none' },
  })
  return new Html((outputFiles[0]?.text ?? '').replaceAll('</', '<\\/'))
}

function heldOutTable(figures: readonly HeldOut[]): Html {
  if (figures.length === 0) return html``
  const rows = figures.map(each => [
    ...[each.scenario, each.phase, each.what, each.size, each.sizes.join(', ')],
    ...[shown(each.what, each.forecast.value), interval(each.forecast, value => shown(each.what, value))],
    ...[shown(each.what, each.measured), percent(errorOf(each))],
  ])
  const head = ['scenario', 'phase', 'figure', 'N', 'forecast from N =', 'forecast', '95 %', 'measured', 'off by']
  return html`<p>${heldOutSentence(figures)}</p>
    <details>
      <summary>The largest sizes, forecast and measured</summary>
      ${table('The largest size of each scenario, as forecast from a tenth of it and less', head, 3, rows)}
    </details>`
}

/** Counts are exact, and times are not. */
const shown = (what: HeldOut['what'], value: number): string => (what.endsWith('ms') ? figure(value) : String(value))

const percent = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(100 * share)} %`

const interval = ({ low, high }: Estimate, show: (value: number) => string): string =>
  low === undefined || high === undefined ? '–' : `${show(Math.max(0, low))} to ${show(high)}`

/** The unit in which the cost of each term is shown, in ms. */
const SCALES: Record<Term, { unit: string; scale: number }> = {
  phase: { unit: 'ms a phase', scale: 1 },
  notification: { unit: 'µs a notification', scale: 1e3 },
  session: { unit: 'µs a session', scale: 1e3 },
  byte: { unit: 'ns a byte', scale: 1e6 },
}

function modelTable({ phases, roundTrip, lineRate }: Model): Html {
  const parts = (costs: Costs | undefined) =>
    costs?.terms
      .map((term, i) => {
        const { unit, scale } = SCALES[term]
        const { value, low, high } = factorOf(costs, i)
        const range = interval({ value, low, high }, each => figure(each * scale))
        return `${figure(value * scale)} ${unit}${range === '–' ? '' : ` (${range})`}`
      })
      .join('; ') ?? '–'
  const rows = phases
    .filter(({ client }) => client !== undefined)
    .map((phase: PhaseModel) => [
      ...[phase.scenario, phase.phase, phase.sizes.join(', '), phase.roundTrips ?? '–'],
      ...[parts(phase.server), parts(phase.client), parts(phase.wait)],
    ])
  const head = ['scenario', 'phase', 'fitted to N =', 'round trips', 'server CPU', 'client CPU', 'waiting']
  const trip = roundTrip && `A round trip took ${figure(roundTrip.value)} ms (${interval(roundTrip, figure)}).`
  const line =
    lineRate && `Beyond processor time, lists were read at ${bitRate(lineRate.value)} (${interval(lineRate, bitRate)}).`
  return html`<details>
    <summary>The parts of the model</summary>
    <p>
      Each figure has its 95 % interval in brackets. Waiting is the duration without the processor time of both.
      ${trip ?? ''} ${line ?? ''}
    </p>
    ${table('The parts of the model, fitted by weighted least squares', head, 2, rows)}
  </details>`
}
