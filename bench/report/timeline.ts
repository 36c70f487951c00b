// Draws one release of each lock, frame by frame: a lane for each session, and a column for each frame.
import type { RecordedEvent, Recording } from '../measure/recording.ts'
import { bytes, figure } from '../output/figures.ts'
import { html, type Html } from './html.ts'

const LANE = 22
const MARGIN = { top: 8, left: 78, right: 14, bottom: 26 }
const WIDTH = 640
const GLYPH = 4.5

/**
 * @param abouts a short description of each scenario
 * @param playable addresses at which a scenario can be played
 */
export function timeline(
  recordings: readonly Recording[],
  abouts: ReadonlyMap<string, string>,
  playable: ReadonlyMap<string, string> = new Map(),
): Html {
  const steps = Math.max(...recordings.map(({ happenings }) => happenings.length))
  return html` <div class="player" hidden>
      <button type="button" data-do="play">Play</button>
      <button type="button" data-do="back" aria-label="one frame back">‹</button>
      <input type="range" min="0" max="${steps}" value="${steps}" aria-label="frames so far" />
      <button type="button" data-do="forward" aria-label="one frame forward">›</button>
      <output class="count" aria-live="off"></output>
    </div>
    <p class="legend">
      <span><svg viewBox="-8 -8 16 16" aria-hidden="true">${glyph('event')}</svg> is notified</span>
      <span><svg viewBox="-8 -8 16 16" aria-hidden="true">${glyph('request')}</svg> sends a request</span>
      <span
        ><svg viewBox="-8 -8 16 16" aria-hidden="true">${glyph('answer')}</svg> receives a reply (larger if it has more
        bytes)</span
      >
      <span><svg viewBox="-8 -8 16 16" aria-hidden="true">${glyph('mark')}</svg> has the lock</span>
    </p>
    <div class="panels">
      ${recordings.map(recording => panel(recording, steps, abouts.get(recording.scenario) ?? '', playable.get(recording.scenario)))}
    </div>`
}

function panel(recording: Recording, steps: number, about: string, address: string | undefined): Html {
  const { scenario, phase, sessions, happenings } = recording
  const notifications = happenings.filter(({ is }) => is === 'event').length
  const frames = happenings.filter(({ is }) => is !== 'mark').length
  const moved = happenings.reduce((sum, each) => sum + each.bytes, 0)
  const sum = `${plural(notifications, 'notification')}, ${plural(frames, 'frame')}, ${bytes(moved)} bytes`
  const height = MARGIN.top + MARGIN.bottom + sessions * LANE
  const largest = Math.max(...happenings.map(each => each.bytes))
  const column = (WIDTH - MARGIN.left - MARGIN.right) / (steps + 1)
  const at = ({ who }: RecordedEvent, step: number) => ({
    x: MARGIN.left + (step + 0.5) * column,
    y: MARGIN.top + (laneOf(recording, who) + 0.5) * LANE,
  })
  const lanes = Array.from({ length: sessions }, (_, who) => {
    const y = MARGIN.top + (laneOf(recording, who) + 0.5) * LANE
    return html`<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}" class="lane" /><text
        x="${MARGIN.left - 10}"
        y="${y + 4}"
        text-anchor="end"
        >${nameOf(recording, who)}</text
      >`
  })
  const glyphs = happenings.map((each, step) => {
    const { x, y } = at(each, step)
    const size = each.is === 'answer' ? Math.max(0.4, Math.sqrt(each.bytes / Math.max(largest, 800)) * 2) : 1
    return html`<g
      data-step="${step + 1}"
      transform="translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${size.toFixed(2)})"
      >${glyph(each.is)}<title>${sentenceOf(recording, each)}</title></g
    >`
  })
  return html`<figure class="timeline" data-steps="${happenings.length}" id="timeline-${scenario}">
    <figcaption><b>${scenario}</b> ${about}<br /><span class="sum">${sum}</span></figcaption>
    <svg
      viewBox="0 0 ${WIDTH} ${height}"
      role="img"
      aria-label="${scenario}, ${phase}: ${sum} among ${sessions} sessions"
    >
      ${lanes}${glyphs}
      <text x="${MARGIN.left}" y="${height - 6}">frame by frame →</text>
    </svg>
    <p class="now"></p>
    ${address === undefined ? html`` : html`<p><a href="${address}">Play a release of ${scenario} in the playground</a></p>`}
    <details>
      <summary>The frames of ${scenario}, one by one</summary>
      <ol>
        ${happenings.map(each => html`<li>${sentenceOf(recording, each)}</li>`)}
      </ol>
    </details>
  </figure>`
}

/** The holder acts first, so it has the top lane. */
const laneOf = ({ actor }: Recording, who: number): number => (who === actor ? 0 : who < actor ? who + 1 : who)

const nameOf = ({ actor }: Recording, who: number): string => (who === actor ? 'holder' : String(who))

function sentenceOf(recording: Recording, { who, is, at, says, bytes: size }: RecordedEvent): string {
  const name = nameOf(recording, who) === 'holder' ? 'The holder' : `Session ${who}`
  const when = `(${figure(at)} ms${is === 'mark' ? '' : `, ${size} bytes`})`
  if (is === 'mark') return `${name} has the lock ${when}`
  const summary = says.replace(/^(client|server) ((#\d+|notifies:|answers #\d+) )?/, '')
  if (is === 'event') return `${name} is notified: ${summary.replace(/^notifies: /, '')} ${when}`
  return `${name} ${is === 'request' ? 'requests' : 'receives'}: ${summary} ${when}`
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function glyph(is: RecordedEvent['is']): Html {
  if (is === 'event') return html`<path class="event" d="M0,-6L6,5L-6,5Z" />`
  if (is === 'request') return html`<path class="request" d="M-3,-5V5M-3,0H4" />`
  if (is === 'answer') return html`<circle class="answer" r="${GLYPH}" />`
  return html`<path
    class="mark"
    d="M0,-8L2.1,-2.9L7.6,-2.5L3.4,1.1L4.7,6.5L0,3.6L-4.7,6.5L-3.4,1.1L-7.6,-2.5L-2.1,-2.9Z"
  />`
}
