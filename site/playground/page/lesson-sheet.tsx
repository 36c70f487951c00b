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
import { Stage } from './stage.tsx'

/** The width of a printed page between its margins, in the pixels of CSS. */
const PAPER = 680

/** The stage of each step of a lesson, in the order of the steps. */
export type Stages = readonly Playground[]

/**
 * Returns the stages of the lesson while it is printed, and a function that prints it. A browser that prints does not wait
 * until a step has been played.
 */
export function useSheet(playground: Playground): { stages: Stages; print: () => Promise<void> } {
  const [stages, setStages] = useState<Stages>([])
  useEffect(() => {
    if (stages.length === 0) return undefined
    const reset = () => setStages([])
    addEventListener('afterprint', reset)
    // The stages have their widths after one drawing, and are painted at the next.
    let request = requestAnimationFrame(() => {
      request = requestAnimationFrame(() => {
        request = requestAnimationFrame(() => window.print())
      })
    })
    return () => {
      removeEventListener('afterprint', reset)
      cancelAnimationFrame(request)
    }
  }, [stages])
  const print = async () => {
    const lesson = lessonOf(playground)
    const links = (lesson?.steps ?? []).map((_, i) => lessonLinkOf(lesson?.id ?? '', i + 1))
    setStages(await Promise.all(links.map(link => Playground.open(link, OPENING, noPrograms))))
  }
  return { stages, print }
}

const lessonOf = (playground: Playground) => LESSONS.find(({ id }) => id === playground.lessons.shown?.id)

function noPrograms(): never {
  throw new Error('a lesson runs no program')
}

/**
 * The lesson on paper: a page for each step, and then the answers. A screen does not show it.
 * @param stages empty if the reader prints by the browser's own command: then the stage of the page is printed once
 */
export function LessonSheet({ playground, stages }: Props & { stages: Stages }) {
  useFittingStage()
  const lesson = lessonOf(playground)
  if (lesson === undefined) return null
  return (
    <article class={stages.length > 0 ? 'sheet paged' : 'sheet'} aria-hidden="true" inert>
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
