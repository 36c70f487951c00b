// The program that the reader writes, and its last run.
import { exerciseIn, exerciseOf, type Exercise } from '../../lab/exercises.ts'
import { verdictOf, type Verdict } from '../../lab/judge.ts'
import { clientsFor, programIn, programLinkOf, type WrittenProgram } from '../../lab/program-link.ts'
import { RemoteWorld } from '../../lab/remote-world.ts'
import type { StartWorld } from '../../lab/world-port.ts'
import { LinkError } from '../../world/story-link.ts'
import type { Scenario, Story } from '../../world/story.ts'
import type { ShownWorld } from '../../world/world.ts'

/** How long a program runs at most, in virtual milliseconds. */
export const LONGEST_RUN = 60_000
const PART = 1000

/** What the reader begins with. */
const FIRST = `// Each client runs this. \`me\` is its number.
while (true) {
  try {
    await zk.create('/lock', '', { mode: 'ephemeral' })
    break
  } catch (error) {
    if (error.code !== 'NODEEXISTS') throw error
    await sleep(50)
  }
}
enter() // the judge looks from here
await sleep(100)
leave() // to here
await zk.delete('/lock')
`

/** Returns the program or the exercise of a link. Undefined if the link is neither. @throws LinkError if it is malformed */
export function writtenIn(link: string): WrittenProgram | undefined {
  const program = programIn(link) ?? exerciseIn(link)
  if (program?.exercise !== undefined) exerciseOf(program.exercise)
  return program
}

export class Editor {
  readonly #start: StartWorld
  #text = FIRST
  /** True if the page shows this program, or the clients that will run it. */
  #isShown = false
  /** What happens to the clients of the text. A link of a program can have such commands. */
  #commands: Story['commands'] = []
  #exercise: Exercise | undefined
  #verdict: Verdict | undefined
  /** True if the last program that was to run could not, for example because of a syntax error. */
  #hasFailed = false
  #problem: string | undefined

  constructor(start: StartWorld) {
    this.#start = start
  }

  get text(): string {
    return this.#text
  }

  get isShown(): boolean {
    return this.#isShown
  }

  /** The exercise that the text began with. */
  get exercise(): Exercise | undefined {
    return this.#exercise
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Why the last program could not run, or was ended. A sentence, which begins with the line if it is known. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Keeps the problem until the next run, or until the reader goes elsewhere. */
  fail(problem: string): void {
    this.#problem = problem
  }

  /** Changes the text. What has run stays as it is. */
  write(text: string): void {
    this.#text = text
    this.#commands = []
    this.#isShown = true
  }

  /** Shows the program of a link. It does not run before the reader wants it to. */
  open({ text, story, exercise }: WrittenProgram): void {
    this.write(text)
    this.#hasFailed = false
    this.#problem = undefined
    this.#commands = story.commands
    this.#exercise = exercise === undefined ? undefined : exerciseOf(exercise)
  }

  /** Leaves the program. Its text stays. */
  leave(): void {
    this.#isShown = false
    this.#problem = undefined
  }

  /** Starts the text with these clients. No time has passed yet. */
  async start(scenario: Scenario): Promise<RemoteWorld> {
    this.#isShown = true
    this.rejudge()
    this.#hasFailed = true
    this.#problem = undefined
    const world = await RemoteWorld.open(this.#start, { text: this.#text, story: this.#storyOf(scenario) }, 0)
    this.#hasFailed = false
    return world
  }

  /** Returns the link to the text, and to the story of its run if it is the text that ran. Undefined if it is too long. */
  linkWith(shown: ShownWorld): string | undefined {
    const { story } = shown
    try {
      return programLinkOf({
        text: this.#text,
        exercise: this.#exercise?.id,
        story: this.isChanged(shown) ? this.#storyOf(story.scenario) : story,
      })
    } catch (error) {
      if (error instanceof LinkError) return undefined
      throw error
    }
  }

  /** True if the text is not what ran. */
  isChanged(shown: ShownWorld): boolean {
    return !(shown instanceof RemoteWorld) || shown.text !== this.#text
  }

  /** Returns the text that ran; empty if none has. */
  ranText(shown: ShownWorld): string {
    return shown instanceof RemoteWorld ? shown.text : ''
  }

  /** Judges the whole run, also when the reader goes back in it. Undefined if the last program has not run. */
  verdictOn(shown: ShownWorld): Verdict | undefined {
    return shown instanceof RemoteWorld && !this.#hasFailed ? (this.#verdict ?? verdictOf(shown.picture())) : undefined
  }

  /** Keeps the verdict on a run that is over, until {@link rejudge} or the next run. */
  judge(shown: ShownWorld): void {
    this.#verdict = verdictOf(shown.picture())
  }

  /** Judges only what is shown from now on: the reader has changed the run. */
  rejudge(): void {
    this.#verdict = undefined
  }

  #storyOf(scenario: Scenario): Story {
    return { scenario: clientsFor(scenario), commands: this.#commands, frames: 0 }
  }
}

/**
 * Lets a program run until it has ended, at most for {@link LONGEST_RUN}.
 * @param onProgress returns false if the program is to run no longer
 */
export async function runToEnd(world: RemoteWorld, onProgress: () => boolean): Promise<void> {
  // In parts, so that what a program did is seen even if it then loops for ever.
  for (let at = PART; at <= LONGEST_RUN && !isOver(world) && !world.isFull; at += PART) {
    await world.finish(at)
    if (!onProgress()) return
  }
}

/** True if a program has run, and has ended at each client. */
export const isOver = (shown: ShownWorld): boolean =>
  shown instanceof RemoteWorld && verdictOf(shown.picture()).unfinished.length === 0
