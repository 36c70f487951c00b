import { useMemo } from 'preact/hooks'
import { explained } from '../model/explained.ts'
import { nameOf, plural, seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { GlyphIcon } from './glyph.tsx'
import { Facts } from './facts.tsx'

/** A frame, field by field. */
export function FrameDetails({ playground, n }: Props & { n: number }) {
  const frame = playground.frames[n - 1]
  const explanation = useMemo(() => frame && explained(frame), [frame?.n, frame?.bytes])
  const last = playground.frames.length
  const show = (n: number) => playground.select({ kind: 'frame', n })
  if (frame === undefined || explanation === undefined)
    return <p class="faint">Frame {n} has not been sent yet at this moment.</p>
  const [client, server] = [nameOf(frame.client), `server ${frame.server}`]
  const fate = frame.lostAt !== undefined ? 'lost on its way' : arrivalOf(frame.arrivesAt, playground.picture.now)
  return (
    <>
      <div class="title-row">
        <h3>
          <GlyphIcon kind={frame.kind} /> Frame {n} <span class="faint">of {last}</span>
        </h3>
        <div class="buttons" role="group" aria-label="Frames">
          <button type="button" disabled={n <= 1} onClick={() => show(n - 1)}>
            <span class="hidden">the frame before</span>
            <span aria-hidden="true">‹</span>
          </button>
          <button type="button" disabled={n >= last} onClick={() => show(n + 1)}>
            <span class="hidden">the next frame</span>
            <span aria-hidden="true">›</span>
          </button>
        </div>
      </div>
      <p class="sentence">{explanation.sentence}</p>
      <Facts
        facts={[
          ['kind', frame.kind === frame.op || frame.op === 'event' ? frame.kind : `${frame.kind}, ${frame.op}`],
          ['from', frame.direction === 'up' ? `${client} to ${server}` : `${server} to ${client}`],
          playground.capture === undefined
            ? ['sent', `${seconds(frame.sentAt)}, ${fate}`]
            : ['seen', `${(frame.sentAt / 1000).toFixed(6)} s after the start of the file`],
          ['size', frame.told === undefined ? plural(frame.bytes.length, 'byte') : 'not in the file'],
        ]}
      />
      {frame.answers !== undefined && (
        <button type="button" class="link" onClick={() => show(frame.answers ?? n)}>
          Show the request, frame {frame.answers}
        </button>
      )}
      {explanation.fields.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-label={`Fields of frame ${n}`} data-keys>
          <table class="fields">
            <thead>
              <tr>
                <th scope="col">at</th>
                <th scope="col">bytes</th>
                <th scope="col">field</th>
                <th scope="col">value</th>
              </tr>
            </thead>
            <tbody>
              {explanation.fields.map(({ offset, hex, name, value }) => (
                <tr key={offset + name}>
                  <td>{offset}</td>
                  <td class="hex">{hex}</td>
                  <td>{name}</td>
                  <td class="value">{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function arrivalOf(arrivesAt: number, now: number): string {
  if (!Number.isFinite(arrivesAt)) return 'held up on its way'
  return now < arrivesAt ? `arrives at ${seconds(arrivesAt)}` : `arrived at ${seconds(arrivesAt)}`
}
