import { useEffect, useRef } from 'preact/hooks'
import type { Capture } from '../../capture/capture.ts'
import { plural } from '../model/words.ts'

/** What a file says about itself, and what it cannot say. */
export function CaptureCard({ capture }: { capture: Capture }) {
  const { name, frames, clients, servers, notes, unknown } = capture
  const card = useRef<HTMLElement>(null)
  // The reader sees and hears what was opened, and the keys play it: in the input of the file they do nothing.
  useEffect(() => card.current?.focus(), [capture])
  const counts = [plural(frames.length, 'frame'), plural(clients.length, 'client'), plural(servers.length, 'server')]
  return (
    <section ref={card} class="panel capture" tabIndex={-1} aria-labelledby="capture-title">
      <h2 id="capture-title">{name}</h2>
      <p>
        {counts.join(', ')}. Play it, go from frame to frame, and choose a frame for its bytes. Nothing of it leaves
        this page, and it cannot be changed.
      </p>
      {notes.length > 0 && (
        <>
          <h3>What the file says</h3>
          <ul>
            {notes.map((note, i) => (
              <li key={i}>{note}</li>
            ))}
          </ul>
        </>
      )}
      <h3>What it cannot say</h3>
      <ul>
        {unknown.map(sentence => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  )
}
