import { useEffect } from 'preact/hooks'
import { LESSONS } from '../../lessons/index.ts'
import { Prose } from './lesson-card.tsx'
import type { Props } from './props.ts'

/** The width of a printed page between its margins, in the pixels of CSS. */
const PAPER = 680

/** The lesson on paper: the texts and questions of all its steps, and then the answers. A screen does not show it. */
export function LessonSheet({ playground }: Props) {
  useFittingStage()
  const lesson = LESSONS.find(({ id }) => id === playground.lessons.shown?.id)
  if (lesson === undefined) return null
  return (
    <article class="sheet">
      <h2>
        {LESSONS.indexOf(lesson) + 1}. {lesson.title}
      </h2>
      <ol>
        {lesson.steps.map(({ text, question }) => (
          <li key={text}>
            <p>
              <Prose text={text} />
            </p>
            {question && (
              <>
                <p>
                  <b>
                    <Prose text={question.text} />
                  </b>
                </p>
                <ul>
                  {question.choices.map(choice => (
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
              <Prose text={`${question.choices[question.answer] ?? ''}. ${question.explanation}`} />
            </li>
          ),
        )}
      </ol>
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
  const stage = document.querySelector<HTMLElement>('.stage')
  if (stage !== null) Object.assign(stage.style, styleOf(stage))
}
