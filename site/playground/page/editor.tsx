import { useEffect, useRef } from 'preact/hooks'
import { ABILITIES } from '../../lab/abilities.ts'
import { exerciseLinkOf, EXERCISES } from '../../lab/exercises.ts'
import { LONGEST_PROGRAM } from '../../lab/program-link.ts'
import { describeOverlap, judgementOn } from '../model/verdict.ts'
import { show } from './lesson-card.tsx'
import { Prose } from './prose.tsx'
import type { Props } from './props.ts'

/** How many overlaps and failures are listed. */
const LISTED = 5
/** What Tab inserts. */
const TAB = '  '

/** A program for all clients: the reader writes it, it runs in the virtual world, and the judge looks for overlaps. */
export function Editor({ playground }: Props) {
  const { editor } = playground
  const panel = useRef<HTMLDetailsElement>(null)
  const title = useRef<HTMLElement>(null)
  const shown = useRef(editor.exercise)
  // The button that led to the exercise may be gone, or far away.
  useEffect(() => {
    if (
      editor.exercise !== shown.current &&
      editor.exercise !== undefined &&
      !panel.current?.contains(document.activeElement)
    )
      show(panel.current, title.current)
    shown.current = editor.exercise
  }, [editor.exercise])
  return (
    <details ref={panel} class="panel editor" open={editor.isShown}>
      <summary ref={title}>
        <h2>Write a program</h2> <span class="faint">each client runs it, and a judge looks for two holders</span>
      </summary>
      <div class="editor-body">
        <Choice playground={playground} />
        <Text playground={playground} />
        <div class="buttons">
          <button
            type="button"
            class="main"
            disabled={playground.isBusy && !playground.isRunning}
            onClick={() => {
              if (playground.isRunning) playground.stop()
              else void playground.run()
            }}
          >
            {playground.isRunning ? 'Stop' : 'Run'}
          </button>
          <button
            type="button"
            disabled={playground.frames.length === 0}
            onClick={() => void playFromStart(playground)}
          >
            Watch it from the start
          </button>
        </div>
        {editor.problem !== undefined && (
          <p class="bad" role="alert">
            {editor.problem}
          </p>
        )}
        {playground.link === '' && <p class="bad">The program is too long for a link.</p>}
        <Judged playground={playground} />
        <Names />
      </div>
    </details>
  )
}

async function playFromStart(playground: Props['playground']): Promise<void> {
  await playground.goTo(0)
  playground.play()
}

/** Exercises to begin with. */
function Choice({ playground }: Props) {
  const { exercise } = playground.editor
  return (
    <>
      <label class="field">
        <span>Exercise</span>
        <select
          value={exercise?.id ?? ''}
          onChange={event => {
            const { value } = event.currentTarget
            if (value !== '') void playground.openLink(exerciseLinkOf(value))
          }}
        >
          <option value="">none: your own program</option>
          {EXERCISES.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {exercise !== undefined && (
        <p>
          <Prose text={exercise.task} />
        </p>
      )}
    </>
  )
}

function Text({ playground }: Props) {
  // After Escape, Tab leaves the text as it leaves other fields.
  const isLeaving = useRef(false)
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void playground.run()
    } else if (event.key === 'Tab' && !event.shiftKey && !isLeaving.current) {
      event.preventDefault()
      event.currentTarget.setRangeText(TAB, event.currentTarget.selectionStart, event.currentTarget.selectionEnd, 'end')
      playground.write(event.currentTarget.value)
    }
    isLeaving.current = event.key === 'Escape'
  }
  const lines = playground.editor.text.split('\n').length
  return (
    <>
      <label class="field">
        <span>The program of each client</span>
        <span class="code">
          <span class="line-numbers" aria-hidden="true">
            {Array.from({ length: lines }, (_, i) => i + 1).join('\n')}
          </span>
          <textarea
            rows={Math.max(12, lines)}
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            maxLength={LONGEST_PROGRAM}
            aria-describedby="editor-keys"
            value={playground.editor.text}
            onInput={event => playground.write(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </span>
      </label>
      <p class="faint" id="editor-keys">
        Tab indents; Escape and then Tab leaves the text. Ctrl and Enter run the program.
      </p>
    </>
  )
}

/** What the judge says of the last run. */
function Judged({ playground }: Props) {
  const { editor, view } = playground
  const verdict = editor.verdictOn(view.world)
  // While a program starts, it is not known whether it can run.
  const hasFailed = editor.hasFailed && !playground.isBusy
  const judgement = verdict && judgementOn(verdict, editor.ranText(view.world), editor.exercise)
  return (
    <div class="verdict" aria-live="polite">
      {verdict === undefined && editor.isShown && (
        <p class={hasFailed ? 'bad' : 'sentence'}>
          {playground.isBusy
            ? 'The program starts …'
            : hasFailed
              ? 'The program could not run, so there is nothing to judge.'
              : 'This program has not run yet. Read it, and then press Run.'}
        </p>
      )}
      {verdict !== undefined && editor.isChanged(view.world) && (
        <p class="faint">You have changed the program since this run.</p>
      )}
      {verdict !== undefined && (
        <>
          <p class={judgement?.isBad === true ? 'bad' : 'sentence'}>
            <b>
              <Prose text={judgement?.text ?? ''} />
            </b>
          </p>
          <ul class="links">
            {verdict.overlaps.slice(0, LISTED).map(overlap => (
              <li key={`${overlap.clients.join()} ${overlap.from}`}>
                <button type="button" class="link" onClick={() => void playground.goToTime(overlap.from)}>
                  {describeOverlap(overlap)}
                </button>
              </li>
            ))}
            {verdict.failures.slice(0, LISTED).map(({ client, message }) => (
              <li key={client} class="bad">
                Client {client} failed: {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function Names() {
  return (
    <details class="abilities">
      <summary>What a program can use</summary>
      {ABILITIES.map(({ title, list }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {list.map(({ code, meaning }) => (
              <div key={code}>
                <dt>
                  <code>{code}</code>
                </dt>
                <dd>
                  <Prose text={meaning} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </details>
  )
}
