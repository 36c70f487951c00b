// A world whose clients run a program, where the program runs. It answers the page's requests one after the other.
import type { Main } from '../world/program.ts'
import type { WireFrame } from '../world/wire-frame.ts'
import { World } from '../world/world.ts'
import type { Answer, News, Request } from './world-port.ts'

export class ServedWorld {
  readonly #main: Main
  #world: World | undefined
  /** What the page knows already. */
  #known = { frames: 0, messages: 0, changes: 0 }
  /** The frames whose fate the page does not know. */
  #open: WireFrame[] = []

  /** @param main what each client runs */
  constructor(main: Main) {
    this.#main = main
  }

  /** Never rejects. */
  async answer(request: Request): Promise<Answer> {
    try {
      const result = await this.#do(request)
      return { result, news: this.#news(this.#opened) }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Ends all processes at once. */
  async close(): Promise<void> {
    await this.#world?.close()
  }

  get #opened(): World {
    if (this.#world === undefined) throw new Error('the world is not open')
    return this.#world
  }

  async #do(request: Request): Promise<boolean | undefined> {
    switch (request.do) {
      case 'open':
        this.#world = await World.replay(request.story, request.frames, this.#main)
        return undefined
      case 'step':
        return this.#opened.step()
      case 'settle':
        await this.#opened.settle()
        return undefined
      case 'advance':
      case 'advanceToFrame':
        await this.#opened[request.do](request.ms)
        return undefined
      case 'finish':
        await this.#opened.finish(request.at)
        return undefined
      case 'act':
        return this.#opened.act(request.command)
    }
  }

  #news(world: World): News {
    const { frames, messages, now } = world
    const changes = world.history()
    const newFrames = frames.slice(this.#known.frames)
    const newMessages = messages.filter(({ n }) => n > this.#known.messages)
    const newChanges = changes.slice(this.#known.changes)
    const open = this.#open
    // What arrives at this very moment can still be lost at it.
    this.#open = [...open, ...newFrames].filter(({ arrivesAt, lostAt }) => lostAt === undefined && arrivesAt >= now)
    this.#known = { frames: frames.length, messages: messages.at(-1)?.n ?? 0, changes: changes.length }
    return {
      ...{ now, isFull: world.isFull, picture: world.picture() },
      ...{ frames: newFrames, messages: newMessages, changes: newChanges },
      fates: open.map(({ n, arrivesAt, lostAt }) => ({ n, arrivesAt, lostAt })),
    }
  }
}
