// Plays lessons on the page: what happens in a lesson is seen frame by frame.
import { LESSONS } from '../../lessons/index.ts'
import { LessonRun, type LessonView, type Stage } from '../../lessons/lesson-run.ts'
import type { Lesson } from '../../lessons/lesson.ts'
import { linkOf, storyOf } from '../../world/story-link.ts'
import { World, type ShownWorld } from '../../world/world.ts'
import { virtualTimeOf } from './pace.ts'
import type { View } from './view.ts'
import type { WorkQueue } from './work-queue.ts'

/** A lesson as the page shows it. */
export interface ShownLesson extends LessonView {
  id: string
  /** True while what the lesson tells is played. */
  isPlaying: boolean
}

/** What a lesson uses of the page. */
export interface LessonHost {
  readonly view: View
  readonly work: WorkQueue
  speed: () => number
  /** Shows another world, and closes the one that was shown. */
  replace: (world: World) => void
  /** Called when another step, or its answer, is shown. */
  changed: () => void
}

export class LessonPlayer {
  readonly #host: LessonHost
  #run: LessonRun | undefined
  readonly #finished = new Set<string>()
  /** Where the last step ended: the reader may have gone elsewhere since. */
  #ended = ''
  /** True if the rest of what is being played is to be shown at once. */
  #isHasty = false
  #onTick: ((realMs: number) => void) | undefined

  constructor(host: LessonHost) {
    this.#host = host
  }

  get shown(): ShownLesson | undefined {
    const run = this.#run
    return run && { ...run.view, id: run.lesson.id, isPlaying: run.isPlaying }
  }

  /** The ids of the lessons that the reader has played to their ends. */
  get finished(): ReadonlySet<string> {
    return this.#finished
  }

  /** Adds lessons that the reader has finished before. Ids that are none of a lesson are ignored. */
  remember(ids: readonly string[]): void {
    for (const { id } of LESSONS) if (ids.includes(id)) this.#finished.add(id)
  }

  /** Begins a lesson, at its first step or another. What happens before the text of the step is shown at once. */
  begin(lesson: Lesson, step = 1): Promise<void> {
    this.leave()
    return this.#host.work.do(() => this.open(lesson, step))
  }

  /** Does what `begin` does, within work that is being done already. */
  async open(lesson: Lesson, step: number): Promise<void> {
    this.#isHasty = true
    const run = await LessonRun.open(lesson, step, world => this.#stageOf(() => (this.#run ? this.#view.world : world)))
    this.#run = run
    this.#ended = linkOf(run.world.story)
    this.#host.replace(run.world)
    this.#host.changed()
  }

  /** Answers the question of the step, and plays what shows the right answer. */
  choose(choice: number): Promise<void> {
    return this.#play(run => run.choose(choice))
  }

  next(): Promise<void> {
    return this.#play(run => run.next())
  }

  /** Shows at once what would be played. */
  hasten(): void {
    this.#isHasty = true
    this.#onTick?.(0)
  }

  /** Leaves the lesson. The world stays as it is. */
  leave(): void {
    this.hasten()
    this.#run = undefined
    this.#host.changed()
  }

  /** Tells that real time has passed. Returns true if a lesson used it. */
  tick(realMs: number, still: boolean): boolean {
    if (this.#onTick === undefined) return false
    if (still) this.#isHasty = true
    this.#onTick(realMs)
    return true
  }

  #play(part: (run: LessonRun) => Promise<void>): Promise<void> {
    return this.#host.work.do(async () => {
      const run = this.#run
      if (run === undefined) return
      this.#isHasty = false
      await this.#goBack()
      const played = part(run)
      this.#host.changed()
      await played
      this.#view.look()
      this.#ended = linkOf(this.#view.world.story)
      if (run.view.isOver) this.#finished.add(run.lesson.id)
      this.#host.changed()
    })
  }

  /** Goes to where the last step ended. */
  async #goBack(): Promise<void> {
    if (linkOf(this.#view.world.story) === this.#ended) return
    this.#host.replace(await World.replay(storyOf(this.#ended)))
  }

  get #view(): View {
    return this.#host.view
  }

  #stageOf(world: () => ShownWorld): Stage {
    const advance = async (ms: number) => {
      const until = world().now + ms
      while (!this.#isHasty && world().now < until) {
        const virtual = virtualTimeOf(await this.#realTime(), this.#host.speed(), this.#view.traffic)
        if (!this.#view.passWithin(virtual)) await this.#view.pass(Math.min(virtual, until - this.#view.now))
      }
      await world().advance(Math.max(0, until - world().now))
      this.#look()
    }
    return {
      get frames() {
        return world().frames
      },
      get messages() {
        return world().messages
      },
      picture: () => world().picture(),
      act: async command => {
        const isDone = await world().act(command)
        this.#look()
        return isDone
      },
      advance,
      settle: async () => {
        if (this.#isHasty) await world().settle()
        else await advance((await restAfter(world())) - world().now)
        this.#look()
      },
      step: async () => {
        const isFrame = this.#run ? await this.#view.stepAhead() : await world().step()
        while (!this.#isHasty)
          if (this.#view.follow(virtualTimeOf(await this.#realTime(), this.#host.speed(), this.#view.traffic))) break
        this.#look()
        return isFrame
      },
    }
  }

  /** Looks at the world, unless the lesson is being opened and its world is not shown yet. */
  #look(): void {
    if (this.#run !== undefined) this.#view.look()
  }

  /** Resolves with the real time that passed until the next drawing. */
  #realTime(): Promise<number> {
    return new Promise(resolve => {
      this.#onTick = realMs => {
        this.#onTick = undefined
        resolve(realMs)
      }
    })
  }
}

/** Returns when the world will be at rest: tries it in a copy. */
async function restAfter(world: ShownWorld): Promise<number> {
  const copy = await World.replay(world.story)
  await copy.advance(Math.max(0, world.now - copy.now))
  await copy.settle()
  const { now } = copy
  await copy.close()
  return now
}
