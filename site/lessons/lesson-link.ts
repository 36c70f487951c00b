// A step of a lesson as the last part of a link, and back: `lesson=herd.3`. A link is untrusted, and each step has one.
import { LinkError, numberIn } from '../world/story-link.ts'
import { LESSONS } from './index.ts'
import type { Lesson } from './lesson.ts'

/** No link of a story starts with it. */
const PREFIX = 'lesson='

/** @param step from 1 */
export const lessonLinkOf = (id: string, step: number): string => `${PREFIX}${id}.${step}`

/**
 * Returns the lesson of a link and the number of its step, which is 1 if the link has none. Undefined if the link is not
 * one of a lesson.
 * @throws LinkError if it is malformed
 */
export function lessonIn(link: string): { lesson: Lesson; step: number } | undefined {
  if (!link.startsWith(PREFIX)) return undefined
  const [id = '', text = '1', ...rest] = link.slice(PREFIX.length).split('.')
  const lesson = LESSONS.find(lesson => lesson.id === id)
  if (lesson === undefined) throw new LinkError('The lesson of the link does not exist.')
  const format = numberIn('step of the link', 1, lesson.steps.length)
  const step = format.read(text)
  if (rest.length > 0 || format.write(step) !== text) throw new LinkError('The link is damaged.')
  return { lesson, step }
}
