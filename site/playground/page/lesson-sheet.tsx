import { useEffect, useState } from 'preact/hooks'
import { LESSONS } from '../../lessons/index.ts'
import { answerOf, choicesOf } from '../../lessons/lesson.ts'
import { lessonLinkOf } from '../../lessons/lesson-link.ts'
import { termsBefore } from '../../lessons/terms.ts'
import { Playground } from '../model/playground.ts'
import { Prose } from './prose.tsx'
import { History } from './history.tsx'
import { OPENING } from './opening.ts'
import type { Props } from './props.ts'
import { saveFile } from './save-file.ts'
import { slidesOf } from './slides.ts'
import { Stage } from './stage.tsx'

/** The width of a printed page between its margins, in the pixels of CSS. */
const PAPER = 680

/** The stage of each step of a lesson, in the order of the steps. */
export type Stages = readonly Playground[]

/** A lesson with the stages of its steps, and for what. */
export interface Sheet {
  readonly stages: Stages
  readonly use: 'paper' | 'slides'
}

const EMPTY: Sheet = { stages: [], use: 'paper' }

/**
 * Returns the lesson while it is printed or saved, and a function that does that. A browser that prints does not wait until a step has
 * been played.
 */
export function useSheet(playground: Playground): { sheet: Sheet; make: (use: Sheet['use']) => Promise<void> } {
  const [sheet, setSheet] = useState(EMPTY)
  useEffect(() => {
    if (sheet === EMPTY) return undefined
    const reset = () => setSheet(EMPTY)
    addEventListener('afterprint', reset)
    const finish = () => {
      if (sheet.use === 'paper') window.print()
      else {
        saveSlides(sheet.stages)
        reset()
      }
    }
    // The stages have their widths after one drawing, and are painted at the next.
    let request = requestAnimationFrame(() => {
      request = requestAnimationFrame(() => {
        request = requestAnimationFrame(finish)
      })
    })
    return () => {
      removeEventListener('afterprint', reset)
      cancelAnimationFrame(request)
    }
  }, [sheet])
  const make = async (use: Sheet['use']) => {
    const lesson = lessonOf(playground)
    const links = (lesson?.steps ?? []).map((_, i) => lessonLinkOf(lesson?.id ?? '', i + 1))
    setSheet({ use, stages: await Promise.all(links.map(link => Playground.open(link, OPENING, noPrograms))) })
  }
  return { sheet, make }
}

function saveSlides(stages: Stages): void {
  const sheet = document.querySelector<HTMLElement>('.sheet')
  const id = stages[0]?.lessons.shown?.id
  if (sheet !== null && id !== undefined) saveFile(`${id}-slides.html`, 'text/html', slidesOf(sheet, stages))
}

const lessonOf = (playground: Playground) => LESSONS.find(({ id }) => id === playground.lessons.shown?.id)

function noPrograms(): never {
  throw new Error('a lesson runs no program')
}

/**
 * The lesson on paper: a page for each step, and then the answers. A screen does not show it.
 * @param sheet has no stages if the reader prints by the browser's own command: then the stage of the page is printed once
 */
export function LessonSheet({ playground, sheet: { stages, use } }: Props & { sheet: Sheet }) {
  useFittingStage()
  const lesson = lessonOf(playground)
  if (lesson === undefined) return null
  return (
    <article class={stages.length > 0 ? `sheet paged for-${use}` : 'sheet'} aria-hidden="true" inert>
      <h2>
        {LESSONS.indexOf(lesson) + 1}. {lesson.title}
      </h2>
      <ol>
        {lesson.steps.map(({ text, question }, i) => (
          <li key={text}>
            <p>
              <Prose text={text} />
            </p>
            {stages[i] && <Stage playground={stages[i]} />}
            {stages[i]?.lessons.shown?.history && <History history={stages[i].lessons.shown.history} />}
            {question && (
              <>
                <p>
                  <b>
                    <Prose text={question.text} />
                  </b>
                </p>
                <ul>
                  {choicesOf(question).map(choice => (
                    <li key={choice}>
                      <Prose text={choice} />
                    </li>
                  ))}
                </ul>
              </>
            )}
          </li>
        ))}
      </ol>
      <h3>Answers</h3>
      <ol>
        {lesson.steps.map(({ text, question }, i) =>
          question === undefined ? null : (
            <li key={text} value={i + 1}>
              <Prose text={`${choicesOf(question)[answerOf(question)] ?? ''}. ${question.explanation}`} />
            </li>
          ),
        )}
      </ol>
      <h3>Words</h3>
      <ul class="words">
        {[...termsBefore(lesson)].map(({ words, meaning }) => (
          <li key={words}>
            <b>{words}</b>: <Prose text={meaning} />
          </li>
        ))}
      </ul>
    </article>
  )
}

/** Makes the stage as wide as the paper while the page is printed: its clients stand where the window put them. */
function useFittingStage(): void {
  useEffect(() => {
    const fit = () =>
      resize(stage => ({ zoom: Math.min(1, PAPER / stage.clientWidth), width: `${stage.clientWidth}px` }))
    const reset = () => resize(() => ({ zoom: '', width: '' }))
    addEventListener('beforeprint', fit)
    addEventListener('afterprint', reset)
    return () => {
      removeEventListener('beforeprint', fit)
      removeEventListener('afterprint', reset)
    }
  }, [])
}

function resize(styleOf: (stage: HTMLElement) => object): void {
  const stage = document.querySelector<HTMLElement>('.theatre .stage')
  if (stage !== null) Object.assign(stage.style, styleOf(stage))
}
