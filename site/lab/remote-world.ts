// The world of a program, as the page sees it. It runs elsewhere, because a program may never give back control.
import type { ServerMessage } from '../world/member-message.ts'
import type { NodeChange, Picture } from '../world/picture.ts'
import type { Command, Story } from '../world/story.ts'
import type { WireFrame } from '../world/wire-frame.ts'
import type { ShownWorld } from '../world/world.ts'
import type { WrittenProgram } from './program-link.ts'
import type { Answer, News, Request, StartWorld, Token, WorldPort } from './world-port.ts'

/** How long the page waits for an answer, and for the first one, in real milliseconds. */
const PATIENCE = 5_000
const PATIENCE_AT_START = 15_000
const STUCK =
  'The program ran for five seconds without waiting for anything, so it was ended. Does a loop run without await?'
const FORGED = 'The program itself sent a message to the page, so it was ended.'

interface Waiting {
  readonly settle: (answer: Answer) => void
  readonly timer: ReturnType<typeof setTimeout>
  readonly token: Token
}

export class RemoteWorld implements ShownWorld {
  readonly #start: StartWorld
  readonly #program: WrittenProgram
  readonly #port: WorldPort
  #frames: readonly WireFrame[] = []
  readonly #messages: ServerMessage[] = []
  readonly #changes: NodeChange[] = []
  #news: News | undefined
  #waiting: Waiting | undefined
  /** Why it answers no more. */
  #failure: string | undefined
  /** The last request. Each waits for the one before. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor(start: StartWorld, program: WrittenProgram) {
    this.#start = start
    this.#program = program
    this.#port = start(program.text, {
      answered: (answer, token) => this.#answered(answer, token),
      failed: message => this.#fail(message),
    })
  }

  /**
   * Runs a program, up to a number of frames.
   * @throws Error if it cannot be run, or never gives back control. Its message is a sentence for the reader
   */
  static async open(start: StartWorld, program: WrittenProgram, frames: number): Promise<RemoteWorld> {
    const world = new RemoteWorld(start, program)
    try {
      await world.#ask({ do: 'open', story: program.story, frames })
      return world
    } catch (error) {
      await world.close()
      throw error
    }
  }

  get text(): string {
    return this.#program.text
  }

  get now(): number {
    return this.#shown.now
  }

  get dueAt(): number {
    return this.now + 1
  }

  get frames(): readonly WireFrame[] {
    return this.#frames
  }

  get messages(): readonly ServerMessage[] {
    return this.#messages
  }

  get isFull(): boolean {
    return this.#shown.isFull
  }

  get story(): Story {
    return this.picture().story
  }

  picture(): Picture {
    return this.#shown.picture
  }

  history(path?: string): NodeChange[] {
    return this.#changes.filter(change => path === undefined || change.path === path)
  }

  async step(): Promise<boolean> {
    return (await this.#ask({ do: 'step' })) === true
  }

  async advance(ms: number): Promise<void> {
    await this.#ask({ do: 'advance', ms })
  }

  async advanceToFrame(ms: number): Promise<void> {
    await this.#ask({ do: 'advanceToFrame', ms })
  }

  async settle(): Promise<void> {
    await this.#ask({ do: 'settle' })
  }

  /** Lets time pass until the program of each client has ended, at most until a virtual time. */
  async finish(at: number): Promise<void> {
    await this.#ask({ do: 'finish', at })
  }

  async act(command: Command): Promise<boolean> {
    return (await this.#ask({ do: 'act', command })) === true
  }

  replayed(frames: number): Promise<RemoteWorld> {
    return RemoteWorld.open(this.#start, { text: this.text, story: this.story }, frames)
  }

  close(): Promise<void> {
    this.#fail('The program was ended.')
    return Promise.resolve()
  }

  get #shown(): News {
    if (this.#news === undefined) throw new Error('the world is not open')
    return this.#news
  }

  #ask(request: Request): Promise<boolean | undefined> {
    const asked = this.#last.then(async () => {
      const answer = await this.#send(request)
      if ('error' in answer) throw new Error(answer.error)
      this.#learn(answer.news)
      return answer.result
    })
    this.#last = asked.catch(() => undefined)
    return asked
  }

  #send(request: Request): Promise<Answer> {
    return new Promise(settle => {
      if (this.#failure !== undefined) return settle({ error: this.#failure })
      const patience = request.do === 'open' ? PATIENCE_AT_START : PATIENCE
      const token = Math.random()
      this.#waiting = { settle, token, timer: setTimeout(() => this.#fail(STUCK), patience) }
      this.#port.send(request, token)
    })
  }

  #answered(answer: Answer, token: Token): void {
    // A loop of such messages would fill the memory of the page, or keep a program that never pauses from being ended.
    if (token === this.#waiting?.token) this.#settle(answer)
    else this.#fail(FORGED)
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    clearTimeout(waiting?.timer)
    waiting?.settle(answer)
  }

  #fail(message: string): void {
    this.#port.end()
    this.#failure ??= message
    this.#settle({ error: this.#failure })
  }

  #learn(news: News): void {
    // A frame of the page is the same object all the time, as in a world of the page.
    for (const fate of news.fates) Object.assign(this.#frames[fate.n - 1] ?? {}, fate)
    if (news.frames.length > 0) this.#frames = [...this.#frames, ...news.frames]
    this.#messages.push(...news.messages)
    this.#changes.push(...news.changes)
    this.#news = news
  }
}
