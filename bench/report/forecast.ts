// The answer to the reader's question, with a form for the reader's own numbers and a plot of the fit; and the details
// behind it: the model, and the largest size of the run as forecast.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { adviceOf, LOCK_NAMES, USUAL_LOCK } from '../model/advice.ts'
import { conditionsOf, FIELDS, standardOf, type Field } from '../model/fields.ts'
import { errorOf, heldOutOf, heldOutSentence, type HeldOut } from '../model/held-out.ts'
import { lineErrorOf, lineForecastsOf, lineSentence, type LineForecast } from '../model/line.ts'
import type { Costs, Model, PhaseModel, Term } from '../model/terms.ts'
import { factorOf, type Estimate } from '../model/least-squares.ts'
import { durationHere } from '../model/forecast.ts'
import { bitRate, figure } from '../output/figures.ts'
import type { Result } from '../output/result.ts'
import { html, Html } from './html.ts'
import { jsonOf } from './json.ts'
import { plot, type Series } from './plots.ts'
import { table } from './tables.ts'

/** Returns empty HTML if the model of the result has no lock that was timed at enough sizes. */
export async function answerSection(result: Result, model: Model): Promise<Html> {
  const phases = model.phases.filter(({ client }) => client !== undefined)
  const sizes = phases.flatMap(({ kind, sizes }) => (kind === 'lock' ? sizes : []))
  if (sizes.length === 0) return html``
  const standard = (field: Field) => standardOf(field, 10 * Math.max(...sizes))
  const { contenders, conditions } = conditionsOf(standard)
  const timed = { ...model, phases }
  const { verdict = '', heading, sentences } = adviceOf(timed, contenders, conditions)
  if (sentences.length === 0) return html``
  return html`<section aria-labelledby="answer">
    <h2 id="answer">At which N does your ensemble break, and what should you do?</h2>
    ${formFor(standard)}
    <div class="forecast">
      <div role="status">
        <p class="verdict">${verdict}</p>
        <p class="conditions">${heading}</p>
        <p>
          A lock breaks if passing it on takes longer than a client holds it. The forecasts come from a model that was
          fitted to this run.
        </p>
      </div>
      ${fitPlot(result, model)}
      <ul>
        ${sentences.map(sentence => html`<li>${sentence}</li>`)}
      </ul>
    </div>
    <script type="application/json" id="model">
      ${jsonOf(timed)}
    </script>
    <script type="module">
      ${await formScript()}
    </script>
  </section>`
}

/** Returns empty HTML if no phase was measured with enough sizes. */
export function modelSection(result: Result, model: Model): Html {
  if (model.phases.length === 0) return html``
  const isTimed = model.phases.some(({ kind, client }) => kind === 'lock' && client !== undefined)
  return html`<section aria-labelledby="forecasts">
    <h2 id="forecasts">Other sizes</h2>
    <p>
      The run was fitted with a model of a few parts, which forecasts other
      sizes.${isTimed ? '' : ' No lock was timed at enough sizes, so none can be recommended.'}
    </p>
    ${heldOutTable(heldOutOf(result))} ${lineTable(lineForecastsOf(result.handOvers ?? [], result.recordings))}
    ${modelTable(model)}
  </section>`
}

function formFor(standard: (field: Field) => number): Html {
  const inputs = (isMain: boolean) =>
    FIELDS.filter(field => field.isMain === isMain).map(
      field =>
        html`<label>
          ${field.label}
          <input
            name="${field.name}"
            type="number"
            required
            step="${field.isWhole ? 1 : 'any'}"
            min="${field.min}"
            max="${field.max}"
            value="${standard(field)}"
          />
        </label>`,
    )
  const locks = LOCK_NAMES.map(name =>
    name === USUAL_LOCK ? html`<option selected>${name}</option>` : html`<option>${name}</option>`,
  )
  return html`<form class="forecast-form" hidden>
    <div class="fields">${inputs(true)}</div>
    <details>
      <summary>Your lock, and your servers</summary>
      <div class="fields">
        <label>
          your lock
          <select name="lock">
            ${locks}
          </select>
        </label>
        ${inputs(false)}
      </div>
    </details>
  </form>`
}

/** Plots how long a release took on the measured machine, and the model that was fitted to it, up to ten times the largest size. */
function fitPlot(result: Result, model: Model): Html {
  const series = result.growth.flatMap(({ scenario, phase }, style): Series[] => {
    const fitted = model.phases.find(each => each.scenario === scenario && each.phase === phase)
    if (fitted?.kind !== 'lock') return []
    const points = result.cells.flatMap(cell => {
      const y = cell.scenario === scenario && cell.asExpected !== undefined ? cell.phases[0]?.ms : undefined
      return y === undefined ? [] : [{ x: cell.size, y }]
    })
    const fit = [...fitted.sizes, 10 * Math.max(...fitted.sizes)].flatMap(x => {
      const y = durationHere(model, fitted, x)?.value
      return y === undefined ? [] : [{ x, y }]
    })
    return [{ name: scenario, style, points: points.toSorted((a, b) => a.x - b.x), fit }]
  })
  const forecast = series.map(
    ({ name, fit = [] }) => `${name}: ${figure(fit.at(-1)?.y)} ms with ${fit.at(-1)?.x ?? 0} sessions`,
  )
  return plot({
    ...{ title: 'One release on the measured machine: measured (symbols), and the fit (dashed)', y: 'ms', series },
    ...{ summary: `Forecast: ${forecast.join('; ')}`, format: (value: number) => `${figure(value)} ms` },
  })
}

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

function lineTable(forecasts: readonly LineForecast[]): Html {
  if (forecasts.length === 0) return html``
  const rows = forecasts.flatMap(({ scenario, size, trips, grown, delays }) =>
    delays.map(each => [
      ...[scenario, size, trips, `${figure(grown.value)} (${interval(grown, figure)})`, each.roundTrip],
      ...[figure(each.forecast), figure(each.measured), percent(lineErrorOf(each))],
    ]),
  )
  const head = ['scenario', 'N', 'round trips', 'as the times grow', 'delay, ms', 'forecast, ms', 'measured', 'off by']
  return html`<p>${lineSentence(forecasts)}</p>
    <details>
      <summary>Hand-overs through lines with other delays, forecast and measured</summary>
      ${table('The time from a release until the next session has the lock', head, 2, rows)}
    </details>`
}

/** Counts are exact, and times are not. */
const shown = (what: HeldOut['what'], value: number): string => (what.endsWith('ms') ? figure(value) : String(value))

const percent = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(100 * share)} %`

const interval = ({ low, high }: Estimate, show: (value: number) => string): string =>
  low === undefined || high === undefined ? '–' : `${show(Math.max(0, low))} to ${show(high)}`

/** Returns the interval in brackets, or nothing if it is not known. */
const bracketed = (estimate: Estimate, show: (value: number) => string): string => {
  const range = interval(estimate, show)
  return range === '–' ? '' : ` (${range})`
}

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
        return `${figure(value * scale)} ${unit}${bracketed({ value, low, high }, each => figure(each * scale))}`
      })
      .join('; ') ?? '–'
  const rows = phases
    .filter(({ client }) => client !== undefined)
    .map((phase: PhaseModel) => [
      ...[phase.scenario, phase.phase, phase.sizes.join(', '), phase.roundTrips ?? '–'],
      ...[parts(phase.server), parts(phase.client), parts(phase.wait)],
    ])
  const head = ['scenario', 'phase', 'fitted to N =', 'round trips', 'server CPU', 'client CPU', 'waiting']
  const trip = roundTrip && `A round trip took ${figure(roundTrip.value)} ms${bracketed(roundTrip, figure)}.`
  const line =
    lineRate && `Beyond processor time, lists were read at ${bitRate(lineRate.value)}${bracketed(lineRate, bitRate)}.`
  return html`<details>
    <summary>The parts of the model</summary>
    <p>
      Each figure has its 95 % interval in brackets. Waiting is the duration without the processor time of both.
      ${trip ?? ''} ${line ?? ''}
    </p>
    ${table('The parts of the model, fitted by weighted least squares', head, 2, rows)}
  </details>`
}
