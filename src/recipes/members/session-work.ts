// What a recipe does in one session after another, from its start() to its close().
import { inBackground } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { cancellable, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { SessionLoop, type Round } from './session-loop.ts'

/** One call of start(), for one of the works that it begins. */
export interface Start {
  /** Resolves when the work has begun. */
  ready(signal: AbortSignal): Promise<void>
  /** Ends the work, unless another call of start() relies on it. */
  undo(): Promise<void>
}

/** Something that goes on in each new session. */
export interface Startable {
  /** @throws ZooKeeperError CLOSED */
  begin(client: Client): Start
}

/** The loop of the present session. It replaces that of the session before, and none follows after the end. */
export class SessionWork {
  readonly #path: string
  readonly #round: Round
  readonly #cleanUp: (loop: SessionLoop) => Promise<void>
  #loop: SessionLoop | undefined
  #isClosed = false
  /** The loops that are ending. */
  readonly #ends = new Map<SessionLoop, Promise<void>>()

  /** @param cleanUp removes what the loop has left at the server, after it has ended */
  constructor(path: string, round: Round, cleanUp: (loop: SessionLoop) => Promise<void> = () => Promise.resolve()) {
    this.#path = path
    this.#round = round
    this.#cleanUp = cleanUp
  }

  /** Undefined before the first session, and after the end. */
  get loop(): SessionLoop | undefined {
    return this.#loop
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * Begins in the session of this client, unless the work goes on there already.
   * @param onBegin called with a loop that begins
   * @throws ZooKeeperError CLOSED
   */
  begin(client: Client, onBegin: (loop: SessionLoop) => void = () => undefined): SessionLoop {
    if (this.#isClosed) throw closedError('start', this.#path)
    const previous = this.#loop
    if (previous?.isRunning !== true || !previous.serves(client)) {
      this.#loop = new SessionLoop(client, this.#round)
      onBegin(this.#loop)
      if (previous !== undefined) inBackground(previous.client, this.#end(previous, REPLACED))
    }
    const loop = this.#loop as SessionLoop
    loop.starts++
    return loop
  }

  /**
   * Resolves when the condition is met in the present session, or in the next one if the work begins there meanwhile. At
   * once if there is none: the next session then begins with the wanted state.
   * @throws as {@link SessionLoop.until}
   */
  async until(isMet: (loop: SessionLoop) => boolean, signal: AbortSignal): Promise<void> {
    for (let loop = this.#loop; loop?.isRunning; loop = this.#loop) {
      const present = loop
      try {
        await present.until(() => isMet(present), signal)
        return
      } catch (error) {
        const goesOn = !this.#isClosed && this.#loop !== present && !signal.aborted
        if (!goesOn) throw error
      }
    }
  }

  /** Takes back one {@link begin}. Ends the loop if no other call of start() relies on it. */
  async undo(loop: SessionLoop): Promise<void> {
    loop.starts--
    if (loop.starts > 0 || this.#loop !== loop) return
    this.#loop = undefined
    await this.#end(loop)
  }

  /** Ends the work for ever. Resolves when it is cleaned up. */
  async close(): Promise<void> {
    this.#isClosed = true
    const loop = this.#loop
    this.#loop = undefined
    if (loop !== undefined) void this.#end(loop).catch(() => undefined)
    await Promise.all(this.#ends.values())
  }

  /** @param detail why, if not by close() */
  #end(loop: SessionLoop, detail?: string): Promise<void> {
    const end = async () => {
      try {
        await loop.stop(closedError('close', this.#path, 'unknown', detail))
        await this.#cleanUp(loop)
      } catch (error) {
        // The next close() tries again.
        if (this.#isClosed) this.#loop = loop
        throw error
      } finally {
        this.#ends.delete(loop)
      }
    }
    const ending = end()
    this.#ends.set(loop, ending)
    return ending
  }
}

const REPLACED = 'start() was called with the client of another session, where the work goes on'

/**
 * Implements start(): begins each work in the session of the client, and resolves when all have begun. If the call
 * fails, undoes what it has begun.
 * @param then waits for more
 * @throws ZooKeeperError BADARGUMENTS, CLOSED; RecipeError TIMEOUT; the signal's reason; the error of a work
 */
export function startAll(
  client: Client,
  path: string,
  options: WaitOptions,
  works: () => readonly Startable[],
  then: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  checkArguments('start', client, path)
  const starts: Start[] = []
  const work = async (signal: AbortSignal) => {
    for (const each of works()) starts.push(each.begin(client))
    await Promise.all(starts.map(each => each.ready(signal)))
    await then(signal)
  }
  const undo = async () => void (await Promise.all(starts.map(each => each.undo())))
  return cancellable(client, { op: 'start', path, options }, work, undo)
}
