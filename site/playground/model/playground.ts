// The state of the page: the world, where the reader stands, what is chosen. The only owner of this state.
// May import: site/capture, site/lab, site/lessons, site/world.
import { openCapture, type Capture } from '../../capture/capture.ts'
import { CapturedWorld } from '../../capture/captured-world.ts'
import type { OpenedFile } from '../../capture/read-file.ts'
import { trialIn } from '../../capture/trial-link.ts'
import type { StartWorld } from '../../lab/world-port.ts'
import { lessonIn, lessonLinkOf } from '../../lessons/lesson-link.ts'
import { linkOf, storyOf } from '../../world/story-link.ts'
import type { ServerMessage } from '../../world/member-message.ts'
import type { NodeChange, Picture } from '../../world/picture.ts'
import type { Command, Scenario, Story } from '../../world/story.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import { World, type ShownWorld } from '../../world/world.ts'
import { CostBook } from './cost-book.ts'
import { Editor, isOver, runToEnd, writtenIn } from './editor.ts'
import { LessonPlayer } from './lesson-player.ts'
import { nextSpeed, virtualTimeOf, type Speed } from './pace.ts'
import { selectionOf, type Selection } from './selection.ts'
import { View } from './view.ts'
import { WorkQueue } from './work-queue.ts'
import { describeLast, FULL, plural, REFUSED } from './words.ts'

/** The longest real time that one drawing lets pass, so that a page that was in the background does not leap. */
const LONGEST_TICK = 100
/** How long the first frames that are seen have flown already, in virtual ms. */
const OPENING_MS = 2.4
/** In reduced motion, playing shows a frame at a time, and each stays for this long at speed 1. */
const STILL_MS = 700

export class Playground {
  readonly view: View
  readonly lessons: LessonPlayer
  readonly editor: Editor
  #playing = false
  #isRunning = false
  #speed: Speed = 1
  #selection: Selection | undefined
  #said = ''
  #error: string | undefined
  /** What the releases cost that the reader has tried. */
  readonly costs = new CostBook()
  #isFresh = false
  /** The link that has the file which the page shows. */
  #captureLink = ''
  /** The work on the world. An error becomes a sentence on the page. */
  readonly #work = new WorkQueue(
    error => {
      this.#playing = false
      this.#error = sentenceOf(error)
    },
    () => this.#changed(),
  )
  #stillFor = 0
  readonly #listeners = new Set<() => void>()

  private constructor(world: World, startWorld: StartWorld) {
    this.view = new View(world)
    this.editor = new Editor(startWorld)
    this.lessons = new LessonPlayer({
      view: this.view,
      work: this.#work,
      speed: () => this.#speed,
      replace: world => this.#replace(world),
      changed: () => {
        this.#playing = false
        this.#mark()
        this.#remember()
        this.#changed()
      },
    })
  }

  /**
   * Opens the story, the lesson or the program of a link. If there is no link, or it cannot be read, opens `otherwise`.
   * @param startWorld starts the world of a program, where it cannot harm the page
   */
  static async open(link: string, otherwise: Story, startWorld: StartWorld): Promise<Playground> {
    const playground = new Playground(await World.replay(otherwise), startWorld)
    playground.#isFresh = link === ''
    if (link !== '') await playground.openLink(link)
    // Shows the frames in flight, not at their start.
    else await playground.view.pass(OPENING_MS)
    return playground
  }

  /** True if the page was opened without a link, and nothing was chosen yet. */
  get isFresh(): boolean {
    return this.#isFresh
  }

  get picture(): Picture {
    return this.view.picture
  }

  get frames(): readonly WireFrame[] {
    return this.view.frames
  }

  /** The messages between servers so far. */
  get messages(): readonly ServerMessage[] {
    return this.view.world.messages
  }

  get story(): Story {
    return this.picture.story
  }

  /** The file that the page shows; undefined if it shows a world. */
  get capture(): Capture | undefined {
    const { world } = this.view
    return world instanceof CapturedWorld ? world.capture : undefined
  }

  /**
   * The link to what the page shows, and what its address ends with: a step of a lesson, a program, or else the story.
   * Empty if the program is too long for a link, and for a file, which stays with its reader, unless a link had it.
   */
  get link(): string {
    if (this.capture !== undefined) return this.#captureLink
    const lesson = this.lessons.shown
    if (lesson !== undefined) return lessonLinkOf(lesson.id, lesson.step)
    return this.editor.isShown ? (this.editor.linkWith(this.view.world) ?? '') : linkOf(this.story)
  }

  get playing(): boolean {
    return this.#playing
  }

  get speed(): Speed {
    return this.#speed
  }

  get selection(): Selection | undefined {
    return this.#selection
  }

  /** What happened last, as a sentence for screen readers. */
  get said(): string {
    return this.#said
  }

  get error(): string | undefined {
    return this.#error
  }

  historyOf(path: string): NodeChange[] {
    return this.view.world.history(path)
  }

  get isBusy(): boolean {
    return this.#work.isBusy
  }

  /** Calls the listener after each change. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  select(selection: Selection | undefined): void {
    this.#selection = selection
    this.#isFresh = false
    this.#changed()
  }

  play(): void {
    this.#playing = true
    this.#changed()
  }

  pause(): void {
    this.#playing = false
    this.#changed()
  }

  changeSpeed(by: 1 | -1): void {
    this.#speed = nextSpeed(this.#speed, by)
    this.#say(`Speed ${this.#speed}`)
  }

  /** Starts the scenario from its beginning, and leaves the lesson, and the program unless its clients still fit. */
  start(scenario: Scenario): Promise<void> {
    this.#playing = false
    this.lessons.leave()
    if (scenario.recipe !== 'bare-clients') this.editor.leave()
    return this.#work.do(async () => this.#replace(await World.open(scenario)))
  }

  openLink(link: string): Promise<void> {
    this.#playing = false
    this.lessons.leave()
    return this.#work.do(async () => {
      const trial = trialIn(link)
      if (trial !== undefined) return this.#openCapture(trial, link)
      const told = lessonIn(link)
      const program = writtenIn(link)
      if (told !== undefined) await this.lessons.open(told.lesson, told.step)
      else this.#replace(program ? await World.open(program.story.scenario) : await World.replay(storyOf(link)))
      if (program === undefined) this.editor.leave()
      else this.editor.open(program)
    })
  }

  /** Opens a file of the reader: a capture, a trace, or what the judge has found. An error leaves the page as it is. */
  openFile(file: OpenedFile): Promise<void> {
    this.#playing = false
    return this.#work.do(() => this.#openCapture(file, ''))
  }

  async #openCapture(file: OpenedFile, link: string): Promise<void> {
    const capture = await openCapture(file)
    this.lessons.leave()
    this.editor.leave()
    this.#selection = undefined
    this.#captureLink = link
    this.#replace(new CapturedWorld(capture))
    this.#say(`Opened ${capture.name}: ${plural(capture.frames.length, 'frame')}. ${describeLast(this.frames)}`)
  }

  /** Changes the program of the editor. It does not run. */
  write(text: string): void {
    this.lessons.leave()
    this.editor.write(text)
    this.#changed()
  }

  /** Runs the program of the editor to its end, in a world of its own. */
  run(): Promise<void> {
    this.#playing = false
    this.lessons.leave()
    return this.#work.do(async () => {
      try {
        await this.#runProgram()
      } catch (error) {
        this.editor.fail(sentenceOf(error))
      }
    })
  }

  async #runProgram(): Promise<void> {
    const world = await this.editor.start(this.story.scenario)
    this.#replace(world)
    this.#isRunning = true
    await runToEnd(world, () => {
      this.#look()
      this.#changed()
      return this.#isRunning
    }).finally(() => (this.#isRunning = false))
    this.editor.judge(world)
  }

  /** True while a program runs. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Lets the program run no longer, and judges what it has done. Does nothing if none runs. */
  stop(): void {
    this.#isRunning = false
  }

  /** Goes on until the next frame has been sent. */
  forward(): Promise<void> {
    this.#playing = false
    return this.#work.do(async () => {
      const isFrame = await this.view.world.step()
      this.#look()
      const none = this.capture === undefined ? 'No frame comes within an hour.' : 'The file has no more frames.'
      this.#say(isFrame ? describeLast(this.frames) : none)
    })
  }

  /** Goes on until nothing but pings is on its way. */
  settle(): Promise<void> {
    this.#playing = false
    return this.#work.do(async () => {
      await this.view.world.settle()
      this.#look()
      this.#say(describeLast(this.frames))
    })
  }

  /** Goes back to the moment at which the frame before was sent. */
  back(): Promise<void> {
    return this.goTo(() => this.frames.length - 1)
  }

  /** Goes to the moment at which the frame with this number was sent. */
  goTo(frame: number | (() => number)): Promise<void> {
    this.#playing = false
    return this.#work.do(async () => {
      const frames = Math.max(0, typeof frame === 'number' ? frame : frame())
      this.#replace(await this.view.world.replayed(frames))
      this.#say(describeLast(this.frames))
    })
  }

  /** Goes to a moment of the past, in virtual milliseconds. */
  goToTime(at: number): Promise<void> {
    this.#playing = false
    return this.#work.do(async () => {
      const world = await this.view.world.replayed(this.frames.filter(({ sentAt }) => sentAt <= at).length)
      await world.advance(Math.max(0, at - world.now))
      this.#replace(world)
      this.#say(describeLast(this.frames))
    })
  }

  act(command: Command): Promise<void> {
    return this.#work.do(async () => {
      const isDone = await this.view.world.act(command)
      this.editor.rejudge()
      this.#look()
      this.#error = isDone ? undefined : this.view.world.isFull ? FULL : REFUSED
      this.#say(this.#error ?? `Done: ${command.kind}.`)
    })
  }

  /**
   * Lets time pass while the page plays.
   * @param realMs since the last call
   * @param still true if frames are shown one by one instead of flying
   */
  tick(realMs: number, still: boolean): Promise<void> {
    const ms = Math.min(realMs, LONGEST_TICK)
    if (this.lessons.tick(ms, still)) this.#changed()
    if (!this.#playing || this.isBusy) return Promise.resolve()
    if (still) {
      this.#stillFor += realMs * this.#speed
      if (this.#stillFor < STILL_MS) return Promise.resolve()
      this.#stillFor = 0
    }
    const virtual = virtualTimeOf(ms, this.#speed, this.view.traffic)
    if (!still && this.view.passWithin(virtual)) return Promise.resolve()
    return this.#work.do(async () => {
      if (this.view.world.isFull && this.capture !== undefined) {
        this.#playing = false
        this.#say('The file has no more frames.')
        return
      }
      if (this.view.world.isFull) throw new Error(FULL)
      const wasOver = isOver(this.view.world)
      if (still) await this.view.world.step()
      else await this.view.pass(virtual)
      if (still) this.view.look()
      this.#remember()
      if (!wasOver && isOver(this.view.world)) this.#playing = false
    })
  }

  /** Chooses what the lesson is about. */
  #mark(): void {
    const focus = this.lessons.shown?.focus
    if (focus !== undefined) this.#selection = selectionOf(focus, this.frames, this.messages)
  }

  /** Tries one release of the recipe with several numbers of clients. */
  async measure(): Promise<void> {
    await this.costs.measure(this.story.scenario, () => this.#changed())
    this.#say('The plot is complete.')
  }

  #replace(world: ShownWorld): void {
    const old = this.view.world
    this.view.replace(world)
    this.#error = undefined
    this.#remember()
    void old.close()
  }

  #look(): void {
    this.view.look()
    this.#remember()
  }

  /** Keeps the costs of the releases for the plot, which outlives this world. */
  #remember(): void {
    this.costs.note(this.picture, this.view.isQuiet)
  }

  #say(sentence: string): void {
    this.#said = sentence
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
