// What a page and a world that runs elsewhere tell each other, as plain data.
import type { ServerMessage } from '../world/member-message.ts'
import type { NodeChange, Picture } from '../world/picture.ts'
import type { Command, Story } from '../world/story.ts'
import type { WireFrame } from '../world/wire-frame.ts'

/** What the page asks of the world. */
export type Request =
  | { readonly do: 'open'; readonly story: Story; readonly frames: number }
  | { readonly do: 'step' | 'settle' }
  | { readonly do: 'advance' | 'advanceToFrame'; readonly ms: number }
  | { readonly do: 'finish'; readonly at: number }
  | { readonly do: 'act'; readonly command: Command }

/** What has happened since the answer before. */
export interface News {
  readonly now: number
  readonly isFull: boolean
  readonly picture: Picture
  readonly frames: readonly WireFrame[]
  /** The fate of frames that were on their way. */
  readonly fates: readonly Pick<WireFrame, 'n' | 'arrivesAt' | 'lostAt'>[]
  readonly messages: readonly ServerMessage[]
  readonly changes: readonly NodeChange[]
}

/** The answer to a request. Answers have the order of the requests. */
export type Answer = { readonly result: boolean | undefined; readonly news: News } | { readonly error: string }

/**
 * What the program cannot know while it runs without a pause. An answer has that of its request, because a program could
 * send messages like those of its world.
 */
export type Token = number

/** The page's end of a world that runs elsewhere. */
export interface WorldPort {
  send(request: Request, token: Token): void
  /** Ends it, whatever it does. */
  end(): void
}

/** Starts the world of a program, elsewhere. */
export type StartWorld = (text: string, handler: WorldHandler) => WorldPort

export interface WorldHandler {
  answered: (answer: Answer, token: Token) => void
  /** The program cannot be run, for example because it has a syntax error. The message is a sentence. */
  failed: (message: string) => void
}
