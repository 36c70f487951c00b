// A program that a reader wrote as the last part of a link, and back: `program=` with the text, the id of its exercise if
// it has one, and the link of the story of its clients, with `;` between them. A link is untrusted, and each program with
// its story has exactly one.
// May import: site/world, src/index.ts, src/recipes/index.ts.
import { linkOf, LinkError, storyOf, stringOf } from '../world/story-link.ts'
import type { Scenario, Story } from '../world/story.ts'

/** No link of a story starts with it. */
const PREFIX = 'program='
/** The longest program, in characters, and the longest link of one. */
export const LONGEST_PROGRAM = 4_000
const LONGEST_LINK = 16_000

const text = stringOf('program', LONGEST_PROGRAM)

/** A program, and the clients that run it. */
export interface WrittenProgram {
  readonly text: string
  readonly story: Story
  /** The id of the exercise that it began with: lower-case letters and hyphens. */
  readonly exercise?: string | undefined
}

const PARTS = /^program=([^;]*);(?:([a-z-]+);)?(.*)$/

/** Clients that run a program take part in no recipe. */
export const clientsFor = ({ clients, servers, seed }: Omit<Scenario, 'recipe'>): Scenario => ({
  ...{ recipe: 'bare-clients', clients, servers, seed },
})

/** @throws LinkError if the program or its story is too long for a link */
export function programLinkOf(program: WrittenProgram): string {
  const exercise = program.exercise === undefined ? '' : `${program.exercise};`
  const link = `${PREFIX}${text.write(program.text)};${exercise}${linkOf(program.story)}`
  if (link.length > LONGEST_LINK) throw new LinkError('The program is too long for a link.')
  return link
}

/**
 * Returns the program of a link. Undefined if the link is not one of a program.
 * @throws LinkError if it is malformed
 */
export function programIn(link: string): WrittenProgram | undefined {
  if (!link.startsWith(PREFIX)) return undefined
  if (link.length > LONGEST_LINK) throw new LinkError(`The link of a program has at most ${LONGEST_LINK} characters.`)
  const [, written, exercise, story] = PARTS.exec(link) ?? []
  if (written === undefined || story === undefined) throw new LinkError('The link is damaged.')
  const program: WrittenProgram = { text: text.read(written), story: storyOf(story), exercise }
  if (program.story.scenario.recipe !== 'bare-clients') throw new LinkError('The link is damaged.')
  if (programLinkOf(program) !== link) throw new LinkError('The link is damaged.')
  return program
}
