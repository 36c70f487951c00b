import { useEffect } from 'preact/hooks'
import type { Playground } from '../model/playground.ts'
import { CaptureCard } from './capture-card.tsx'
import { Costs } from './costs.tsx'
import { Commands } from './commands.tsx'
import { Editor } from './editor.tsx'
import { Inspector } from './inspector.tsx'
import { Keys } from './keys.tsx'
import { Lanes } from './lanes.tsx'
import { Legend } from './legend.tsx'
import { Asked, LessonCard } from './lesson-card.tsx'
import { LessonSheet, useSheet } from './lesson-sheet.tsx'
import { OpenFile } from './open-file.tsx'
import { Setup } from './setup.tsx'
import { Stage } from './stage.tsx'
import { Transport } from './transport.tsx'
import type { Props } from './props.ts'
import { linkInAddress, showInAddress } from './address.ts'
import { useChanges } from './use-changes.ts'

interface PageProps extends Props {
  /** The address of the site, if this page is a part of it. */
  home: string | undefined
}

export function App({ playground, home }: PageProps) {
  useChanges(playground)
  useLink(playground)
  useKeys(playground)
  const { sheet, make } = useSheet(playground)
  const { error, selection } = playground
  // Who chooses a client wants to do something to it; who chooses something else wants to read about it.
  const isToRead = selection !== undefined && selection.kind !== 'client'
  const alert = error !== undefined && (
    <p class="error" role="alert">
      {error}
    </p>
  )
  const announcement = (
    <p class="hidden" role="status" aria-live={playground.playing ? 'off' : 'polite'}>
      {playground.said}
    </p>
  )
  if (linkInAddress().isEmbedded)
    return (
      <section class="theatre embedded" aria-labelledby="stage-title">
        <h1 id="stage-title" class="hidden">
          ZooKeeper in a browser tab
        </h1>
        {alert}
        <Stage playground={playground} />
        <Transport playground={playground} />
        <a href={`#${playground.link}`} target="_blank" rel="noopener">
          Open it in the playground
        </a>
        {announcement}
      </section>
    )
  const { capture } = playground
  const commands = capture === undefined && <Commands key="commands" playground={playground} />
  const inspector = <Inspector key="inspector" playground={playground} />
  return (
    <>
      <header>
        <h1>ZooKeeper in a browser tab</h1>
        <p>
          The client and the server of {home === undefined ? 'zkwire' : <a href={home}>zkwire</a>}, unchanged, in
          virtual time. Each shape that flies is a real frame of the protocol, or a message from one server to another.
        </p>
      </header>
      {alert}
      <LessonSheet playground={playground} sheet={sheet} />
      <Setup playground={playground} />
      <div class="work">
        <section class="theatre" aria-labelledby="stage-title">
          <h2 id="stage-title" class="hidden">
            The stage
          </h2>
          <Asked playground={playground} />
          <Stage playground={playground} />
          <Transport playground={playground} />
          {selection !== undefined && (
            <button type="button" class="to-details" onClick={showDetails}>
              {isToRead || playground.capture !== undefined
                ? 'Show its details'
                : 'Show its details, and what to do to it'}
            </button>
          )}
          <Legend playground={playground} />
        </section>
        <aside class="side" aria-label="Lessons, commands and details">
          {capture !== undefined && <CaptureCard capture={capture} />}
          <LessonCard playground={playground} onSheet={make} />
          <Editor playground={playground} />
          {isToRead ? [inspector, commands] : [commands, inspector]}
        </aside>
      </div>
      <OpenFile playground={playground} />
      <Lanes playground={playground} />
      {capture === undefined && <Costs playground={playground} />}
      <Keys />
      {announcement}
    </>
  )
}

/** On a narrow screen, the details of what is chosen are far below the stage. */
const showDetails = () => document.querySelector('.side')?.scrollIntoView()

/** Keeps the address of the page the link to what it shows. */
function useLink(playground: Playground): void {
  const { link, playing } = playground
  useEffect(() => {
    if (!playing) showInAddress(link)
  }, [link, playing])
}

/** What needs the arrow keys itself, and what needs Space. */
const USERS_OF_ARROWS = 'input, select, textarea, [data-keys]'
const USERS_OF_SPACE = `${USERS_OF_ARROWS}, button, a, summary`

/** Space plays and pauses, the arrows go from frame to frame, unless the focus is on something that needs these keys. */
function useKeys(playground: Playground): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return
      const target = event.target as Element
      if (target.closest(event.key === ' ' ? USERS_OF_SPACE : USERS_OF_ARROWS) !== null) return
      const act = ACTIONS[event.key]
      if (act === undefined) return
      event.preventDefault()
      act(playground)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [playground])
}

const ACTIONS: Readonly<Record<string, (playground: Playground) => void>> = {
  ' ': playground => (playground.playing ? playground.pause() : playground.play()),
  ArrowRight: playground => void playground.forward(),
  ArrowLeft: playground => void playground.back(),
}
