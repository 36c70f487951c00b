import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { exerciseLinkOf, EXERCISES } from '../../lab/exercises.ts'
import type { QuestionView } from '../../lessons/lesson-run.ts'
import { LESSONS } from '../../lessons/index.ts'
import type { Lesson } from '../../lessons/lesson.ts'
import { piecesOf, termsBefore, type Piece } from '../../lessons/terms.ts'
import type { ShownLesson } from '../model/lesson-player.ts'
import { describeCounters } from '../model/words.ts'
import { History } from './history.tsx'
import type { Sheet } from './lesson-sheet.tsx'
import type { Props } from './props.ts'
import { Pieces, Prose } from './prose.tsx'
import { stillness } from './stillness.ts'

/** Where the last lesson leads on to. */
const FIRST_EXERCISE = exerciseLinkOf(EXERCISES[0]?.id ?? '')

interface ForSheet {
  /** Prints the lesson, or saves it as slides. */
  onSheet: (use: Sheet['use']) => Promise<void>
}

/** The list of lessons, or the one that is told. */
export function LessonCard({ playground, onSheet }: Props & ForSheet) {
  const lesson = playground.lessons.shown
  const wasTold = useRef(false)
  // Who goes on to an exercise is led to the program, and not back to the list.
  if (lesson === undefined)
    return <List playground={playground} isBack={wasTold.current && !playground.editor.isShown} />
  wasTold.current = true
  return <Told playground={playground} lesson={lesson} onSheet={onSheet} />
}

/** @param isBack true if the reader has left a lesson: the list takes the place of the lesson's card */
function List({ playground, isBack }: Props & { isBack: boolean }) {
  const list = useRef<HTMLDetailsElement>(null)
  const { finished } = playground.lessons
  useEffect(() => {
    if (isBack) show(list.current, list.current?.querySelector('summary'))
  }, [])
  return (
    <details ref={list} class="panel lessons" open={playground.isFresh || isBack}>
      <summary>
        <h2>Lessons</h2>{' '}
        <span class="faint">
          {LESSONS.length} short stories that ask before they show{finished.size > 0 && `, ${finished.size} finished`}
        </span>
      </summary>
      <ol>
        {LESSONS.map(lesson => (
          <li key={lesson.id}>
            <button type="button" class="link" onClick={() => void playground.lessons.begin(lesson)}>
              {lesson.title}
            </button>
            {finished.has(lesson.id) && <span class="finished"> ✓ finished</span>}
            <p class="faint">{lesson.summary}</p>
          </li>
        ))}
      </ol>
    </details>
  )
}

function Told({ playground, lesson, onSheet }: Props & ForSheet & { lesson: ShownLesson }) {
  const card = useRef<HTMLElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  useScroll(lesson.isPlaying, card)
  // The button that led here may be gone, or far below. A screen reader starts to read at the title.
  useEffect(() => show(lesson.isPlaying ? null : card.current, title.current), [lesson.id, lesson.step])
  const isJudged = lesson.history?.verdict !== undefined
  // The choices are below the history, and a phone's window does not hold both.
  useEffect(
    () => show(isJudged ? (card.current?.querySelector<HTMLElement>('.history') ?? null) : null, null),
    [isJudged],
  )
  const index = LESSONS.findIndex(({ id }) => id === lesson.id)
  const following = LESSONS[index + 1]
  const seen = termsBefore(LESSONS[index] as Lesson, lesson.step)
  const [text = [], asked = [], explanation = []] = [
    ...[lesson.text, lesson.question?.text ?? '', lesson.question?.answer?.explanation ?? ''],
  ].map(part => piecesOf(part, seen))
  return (
    <section
      ref={card}
      class="panel lesson"
      aria-labelledby="lesson-title"
      data-lesson={lesson.id}
      data-step={lesson.step}
    >
      <div class="head">
        <div class="title-row">
          <h2 id="lesson-title" ref={title} tabIndex={-1}>
            {index + 1}. {lesson.title}
          </h2>
          <span class="faint">
            step {lesson.step} of {lesson.steps}
          </span>
        </div>
        <Buttons playground={playground} lesson={lesson} following={following} />
      </div>
      <p key={lesson.step}>
        <Pieces pieces={text} />
      </p>
      {lesson.speaksOfCounters && (
        <p class="counted">This release: {describeCounters(playground.picture.counters.thisRelease)}</p>
      )}
      {lesson.history && <History key={`history ${lesson.step}`} history={lesson.history} />}
      {lesson.question && (
        <Question
          key={`question ${lesson.step}`}
          playground={playground}
          question={lesson.question}
          isPlaying={lesson.isPlaying}
          pieces={{ text: asked, explanation }}
        />
      )}
      {lesson.isOver && following !== undefined && (
        <p class="faint">
          The next lesson is {index + 2}. {following.title}.
        </p>
      )}
      {lesson.isOver && following === undefined && (
        <p>
          That was the last lesson. Now write locks of your own: each exercise is a program that fails, and a judge says
          when you have mended it. Or choose a recipe, and try faults of your own on its clients and servers.
        </p>
      )}
      <p>
        <button type="button" class="link" onClick={() => void onSheet('paper')}>
          Print this lesson
        </button>{' '}
        <button type="button" class="link" onClick={() => void onSheet('slides')}>
          Save it as slides
        </button>
      </p>
    </section>
  )
}

/**
 * Each button is at the same place in each step, so that one who shows a lesson to others does not look for it, and a
 * second tap on one never presses another.
 */
function Buttons({ playground, lesson, following }: Props & { lesson: ShownLesson; following: Lesson | undefined }) {
  const { isPlaying, hasNext, isOver } = lesson
  const { lessons } = playground
  const goOn = () => {
    if (!isOver) return lessons.next()
    return following === undefined ? playground.openLink(FIRST_EXERCISE) : lessons.begin(following)
  }
  return (
    <div class="buttons">
      <button type="button" class="main" disabled={isPlaying || !(hasNext || isOver)} onClick={() => void goOn()}>
        {isOver ? (following === undefined ? 'Exercises' : 'Next lesson') : 'Next'}
      </button>
      <button type="button" disabled={!isPlaying} onClick={() => lessons.hasten()}>
        Show it at once
      </button>
      <button type="button" class="leave" onClick={() => lessons.leave()}>
        All lessons
      </button>
    </div>
  )
}

/** The question above the stage, for a window that does not hold the card and the stage. */
export function Asked({ playground }: Props) {
  const question = playground.lessons.shown?.question
  if (question === undefined) return null
  const said = question.choices[question.chosen.at(-1) ?? -1]
  return (
    <p class="asked" aria-hidden="true">
      <b>
        <Prose text={question.text} />
      </b>
      {said !== undefined && (
        <span>
          Your answer: <Prose text={said} />
        </span>
      )}
    </p>
  )
}

/** Moves the focus to an element, and its card to the top of the window if it begins elsewhere than in the upper half. */
export function show(card: HTMLElement | null, focus: HTMLElement | null | undefined): void {
  focus?.focus({ preventScroll: true })
  const top = card?.getBoundingClientRect().top ?? 0
  if (top < 0 || top > innerHeight / 2) scrollTo(card)
}

/**
 * Scrolls smoothly unless the reader wants no motion. A scroll at once would end elsewhere while a smooth one runs: in
 * Chromium, the next frame of the smooth one is still added.
 */
function scrollTo(target: Element | null | undefined): void {
  target?.scrollIntoView({ behavior: stillness.matches ? 'instant' : 'smooth', block: 'start' })
}

/** Scrolls to the stage while a step is played, and back to its text: a phone's window holds only one of both. */
function useScroll(isPlaying: boolean, card: RefObject<HTMLElement | null>): void {
  const wasPlaying = useRef(isPlaying)
  const hasLeft = useRef(false)
  useEffect(() => {
    // With reduced motion nothing is played: the text and the end of the step are there at once.
    if (isPlaying === wasPlaying.current || stillness.matches) return
    wasPlaying.current = isPlaying
    const target = isPlaying ? document.querySelector('.stage') : card.current
    // The question stands above the stage, and stays there. What has just been played is explained below it.
    const start = isPlaying
      ? document.querySelector('.theatre')
      : (card.current?.querySelector('.history:has(.judged), .question:has(.explanation)') ?? card.current)
    // A step may be over while the window still scrolls to the stage. The card is then in view, but will not be.
    const isElsewhere = target !== null && (hasLeft.current || !isSeen(target.getBoundingClientRect()))
    hasLeft.current = isPlaying && isElsewhere
    if (isElsewhere) scrollTo(start)
  }, [isPlaying])
}

/** True if most of an element is in the window, or as much of it as fits there. */
const isSeen = ({ top, bottom, height }: DOMRect): boolean =>
  Math.min(bottom, innerHeight) - Math.max(top, 0) >= 0.8 * Math.min(height, innerHeight)

interface QuestionProps extends Props {
  question: QuestionView
  isPlaying: boolean
  pieces: Readonly<Record<'text' | 'explanation', readonly Piece[]>>
}

function Question({ playground, question, isPlaying, pieces }: QuestionProps) {
  const { choices, chosen, objection, answer } = question
  const last = chosen.at(-1)
  return (
    <fieldset class="question">
      <legend>
        <Pieces pieces={pieces.text} />
      </legend>
      {choices.map((choice, i) => {
        // The last choice is wrong if there is an objection to it, and all before it are.
        const isWrong = chosen.includes(i) && (i !== last || objection !== undefined)
        const mark = isWrong ? 'wrong' : i === answer?.choice ? 'right' : ''
        return (
          <button
            key={choice}
            type="button"
            class={`choice ${mark}`}
            aria-pressed={i === last}
            disabled={isPlaying || answer !== undefined}
            aria-disabled={isWrong}
            onClick={() => void playground.lessons.choose(i)}
          >
            <span class="mark" aria-hidden="true">
              {mark === 'right' ? '✓' : mark === 'wrong' ? '✗' : i === last ? '●' : '○'}
            </span>
            <span>
              <Prose text={choice} />
              {mark !== '' && <span class="hidden">, {mark}</span>}
            </span>
          </button>
        )
      })}
      <div aria-live="polite">
        {isPlaying && last !== undefined && <p class="faint">Watch what happens …</p>}
        {objection !== undefined && (
          <p class="explanation" key={last}>
            <b>Not quite.</b> <Prose text={objection} /> <b>Try again.</b>
          </p>
        )}
        {answer && (
          <p class="explanation">
            <b>Right.</b> <Pieces pieces={pieces.explanation} />
          </p>
        )}
      </div>
    </fieldset>
  )
}
