import { seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { Facts } from './facts.tsx'
import { GlyphIcon } from './glyph.tsx'

/** A message between two servers, field by field. */
export function MessageDetails({ playground, n }: Props & { n: number }) {
  const { messages, picture } = playground
  const at = messages.findIndex(message => message.n === n)
  const message = messages[at]
  if (message === undefined) return <p class="faint">Message {n} has not been sent yet at this moment.</p>
  const { kind, from, to, sentAt, arrivesAt, sentence, fields } = message
  const show = (other: number) => {
    const message = messages[other]
    if (message !== undefined) playground.select({ kind: 'message', n: message.n })
  }
  return (
    <>
      <div class="title-row">
        <h3>
          <GlyphIcon kind="replication" /> Message {n} <span class="faint">between servers</span>
        </h3>
        <div class="buttons" role="group" aria-label="Messages">
          <button type="button" disabled={at === 0} onClick={() => show(at - 1)}>
            <span class="hidden">the message before</span>
            <span aria-hidden="true">‹</span>
          </button>
          <button type="button" disabled={at === messages.length - 1} onClick={() => show(at + 1)}>
            <span class="hidden">the next message</span>
            <span aria-hidden="true">›</span>
          </button>
        </div>
      </div>
      <p class="sentence">{sentence}</p>
      <Facts
        facts={[
          ['kind', kind],
          ['from', `server ${from} to server ${to}`],
          ['sent', `${seconds(sentAt)}, ${picture.now < arrivesAt ? 'arrives' : 'due'} at ${seconds(arrivesAt)}`],
          ...Object.entries(fields),
        ]}
      />
    </>
  )
}
