// A lesson: a told story in a world, as plain data. It asks before it shows. `LessonRun` plays it.
// May import: site/history, site/world.
import type { Subject } from '../history/node-history.ts'
import type { Command, Scenario } from '../world/story.ts'
import type { ServerMessage } from '../world/member-message.ts'
import type { WireFrame } from '../world/wire-frame.ts'

/** Something that happens in the world of a lesson. */
export type Action =
  | { readonly do: Command }
  /** Lets whole milliseconds pass. */
  | { readonly wait: number }
  /** Lets time pass until nothing but pings is on its way. */
  | { readonly settle: true }
  /** Shows frames until one of these is shown: none that was shown before counts. */
  | { readonly until: FrameMatch }
  /** Lets time pass, a millisecond at a time, until one of these messages between servers is sent. */
  | { readonly untilMessage: MessageMatch }

/** The frames whose fields have these values. */
export type FrameMatch = Partial<Pick<WireFrame, 'client' | 'server' | 'direction' | 'kind' | 'op'>>

/** The messages between servers whose fields have these values. */
export type MessageMatch = Partial<Pick<ServerMessage, 'from' | 'to' | 'kind'>>

/** What the text is about: the page marks it. */
export type Focus =
  | { readonly client: number }
  | { readonly server: number }
  | { readonly node: string }
  /** The last frame that was shown and matches. */
  | { readonly frame: FrameMatch }
  /** The last message between servers that matches. */
  | { readonly message: MessageMatch }

/** The right choice is a text. A wrong one also says why it is wrong, but not which one is right. */
export type Choice = string | readonly [text: string, why: string]

/** Code in a text is between backticks. */
export interface Question {
  readonly text: string
  readonly choices: readonly [Choice, Choice, ...Choice[]]
  /** What happens when the reader has found the right choice: it shows that it is right. */
  readonly play: readonly Action[]
  /** Shown after that. */
  readonly explanation: string
  readonly focus?: Focus
}

export interface Step {
  /** What happens before the text is shown. */
  readonly play: readonly Action[]
  readonly text: string
  readonly focus?: Focus
  /** True if the text speaks of the counters of this release: they are shown with it. */
  readonly speaksOfCounters?: true
  /** The node whose history is drawn with the text. It is judged when the question is answered. */
  readonly history?: Subject
  readonly question?: Question
}

/** Returns the texts of the choices. */
export const choicesOf = ({ choices }: Question): string[] =>
  choices.map(choice => (typeof choice === 'string' ? choice : choice[0]))

/** Returns the index of the right choice. */
export const answerOf = ({ choices }: Question): number => choices.findIndex(choice => typeof choice === 'string')

export interface Lesson {
  /** For links: lower-case words with hyphens. */
  readonly id: string
  readonly title: string
  /** One sentence for the list of lessons. */
  readonly summary: string
  readonly scenario: Scenario
  readonly steps: readonly Step[]
}
