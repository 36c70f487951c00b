// Plays a lesson in a world. It has no DOM: the page shows its view, and passes on what the reader chooses.
import { nodeHistoryOf, type NodeHistory } from '../history/node-history.ts'
import { World } from '../world/world.ts'
import type { WireFrame } from '../world/wire-frame.ts'
import {
  answerOf,
  choicesOf,
  type Action,
  type Focus,
  type FrameMatch,
  type Lesson,
  type MessageMatch,
  type Question,
  type Step,
} from './lesson.ts'

/** The longest time for which an action waits for a message, in virtual milliseconds. */
const LONGEST_PASS = 20_000
/** The most frames among which an action looks for a frame. */
const PATIENCE = 500

/** What a lesson does with a world. A page can pass its own stage, which shows each frame on its way. */
export type Stage = Pick<World, 'act' | 'advance' | 'settle' | 'step' | 'frames' | 'messages' | 'picture'>

/** What the reader sees of a lesson now. */
export interface LessonView {
  readonly title: string
  /** The number of the step, from 1, and the number of all steps. */
  readonly step: number
  readonly steps: number
  readonly text: string
  readonly focus: Focus | undefined
  readonly speaksOfCounters: boolean
  /** What has happened to the node of the step so far; undefined if the step has none. */
  readonly history: NodeHistory | undefined
  /** Undefined if the step asks nothing. */
  readonly question: QuestionView | undefined
  /** True if `next` leads on: the question of the step is answered, and a step follows. */
  readonly hasNext: boolean
  /** True if the last step is shown, and its question is answered. */
  readonly isOver: boolean
}

export interface QuestionView {
  readonly text: string
  readonly choices: readonly string[]
  /** What the reader has chosen, in this order. The last one can be right; those before it are wrong. */
  readonly chosen: readonly number[]
  /** Why the last choice is wrong; undefined if it is not, and before the reader has chosen. */
  readonly objection: string | undefined
  /** The right choice and its explanation; undefined before the reader has found it, and while the answer is played. */
  readonly answer: { readonly choice: number; readonly explanation: string } | undefined
}

export class LessonRun {
  readonly lesson: Lesson
  readonly world: World
  readonly #stage: Stage
  #index = 0
  #chosen: readonly number[] = []
  #isAnswered = false
  #isPlaying = false
  #history: NodeHistory | undefined

  private constructor(lesson: Lesson, world: World, stage: Stage) {
    this.lesson = lesson
    this.world = world
    this.#stage = stage
  }

  /**
   * Opens the world of the lesson, and plays its steps up to one.
   * @param step the number of the step that is shown then, from 1
   * @param stageOf returns what plays the actions. Default: the world itself, which shows only where they lead
   */
  static async open(lesson: Lesson, step = 1, stageOf: (world: World) => Stage = world => world): Promise<LessonRun> {
    const world = await World.open(lesson.scenario)
    const run = new LessonRun(lesson, world, stageOf(world))
    for (; run.#index < step - 1; run.#index++) {
      const { play, question } = run.#step
      await run.#play([...play, ...(question?.play ?? [])])
    }
    await run.#play(run.#step.play)
    run.#look()
    return run
  }

  /** True while actions are played. `next` and `choose` do nothing then. */
  get isPlaying(): boolean {
    return this.#isPlaying
  }

  get view(): LessonView {
    const { text, focus, speaksOfCounters = false, question } = this.#step
    const { steps, title } = this.lesson
    const isDone = question === undefined || this.#isAnswered
    const isLast = this.#index === steps.length - 1
    return {
      title,
      step: this.#index + 1,
      steps: steps.length,
      text,
      focus: (this.#isAnswered ? question?.focus : undefined) ?? focus,
      speaksOfCounters,
      history: this.#history,
      question: question && {
        text: question.text,
        choices: choicesOf(question),
        chosen: this.#chosen,
        objection: objectionTo(question, this.#chosen.at(-1)),
        answer: this.#isAnswered ? { choice: answerOf(question), explanation: question.explanation } : undefined,
      },
      hasNext: isDone && !isLast,
      isOver: isDone && isLast,
    }
  }

  /**
   * Answers the question of the step. If the choice is right, lets happen what shows that. If it is wrong, the reader can
   * choose again. Does nothing if the question is answered, or if this choice was made before.
   */
  async choose(choice: number): Promise<void> {
    const { question } = this.#step
    if (question?.choices[choice] === undefined || this.#isAnswered || this.#isPlaying) return
    if (this.#chosen.includes(choice)) return
    this.#chosen = [...this.#chosen, choice]
    if (choice !== answerOf(question)) return
    await this.#play(question.play)
    this.#isAnswered = true
    this.#look()
  }

  /** Goes on to the next step. Does nothing before the question of this one is answered, and after the last step. */
  async next(): Promise<void> {
    if (!this.view.hasNext || this.#isPlaying) return
    this.#index++
    this.#chosen = []
    this.#isAnswered = false
    this.#history = undefined
    await this.#play(this.#step.play)
    this.#look()
  }

  close(): Promise<void> {
    return this.world.close()
  }

  get #step(): Step {
    return this.lesson.steps[this.#index] as Step
  }

  /** Reads the history of the step's node. It stays while the reader goes elsewhere in the world. */
  #look(): void {
    const { history, question } = this.#step
    const isJudged = question === undefined || this.#isAnswered
    this.#history = history && nodeHistoryOf(this.#stage.picture().operations, history, isJudged)
  }

  async #play(actions: readonly Action[]): Promise<void> {
    this.#isPlaying = true
    try {
      for (const action of actions)
        if ('do' in action) await this.#stage.act(action.do)
        else if ('wait' in action) await this.#stage.advance(action.wait)
        else if ('settle' in action) await this.#stage.settle()
        else if ('until' in action) await this.#showUntil(action.until)
        else await this.#passUntil(action.untilMessage)
    } finally {
      this.#isPlaying = false
    }
  }

  async #showUntil(match: FrameMatch): Promise<void> {
    for (let i = 0; i < PATIENCE && (await this.#stage.step()); i++)
      if (isMatch(this.#stage.frames.at(-1) as WireFrame, match)) return
    throw this.#missing('frame', match)
  }

  async #passUntil(match: MessageMatch): Promise<void> {
    const before = this.#stage.messages.at(-1)?.n ?? 0
    for (let i = 0; i < LONGEST_PASS; i++) {
      await this.#stage.advance(1)
      if (this.#stage.messages.some(message => message.n > before && isMatch(message, match))) return
    }
    throw this.#missing('message', match)
  }

  #missing(what: string, match: object): Error {
    return new Error(`lesson ${this.lesson.id}, step ${this.#index + 1}: no ${what} matches ${JSON.stringify(match)}`)
  }
}

function objectionTo({ choices }: Question, choice = -1): string | undefined {
  const chosen = choices[choice]
  return typeof chosen === 'string' ? undefined : chosen?.[1]
}

/** Returns true if the frame or the message has all these values. */
export const isMatch = <T extends object>(sent: T, match: Partial<T>): boolean =>
  Object.entries(match).every(([field, value]) => sent[field as keyof T] === value)
