// The files that a run writes with --docs, by their paths in the repository. Pure.
import { choosingPage } from './page.ts'
import { collapsePicture, fairnessPicture, waitsPicture } from './picture.ts'
import type { ServicesResult } from './result.ts'

/** Returns the text of each file that quotes the result. */
export const documentsOf = (result: ServicesResult): Readonly<Record<string, string>> => ({
  'docs/choosing.md': choosingPage(result),
  // A run with --seconds 0 has no pictures.
  ...(result.openWorlds.length > 0 && {
    'docs/choosing.svg': waitsPicture(result),
    'docs/choosing-fairness.svg': fairnessPicture(result),
    'docs/choosing-collapse.svg': collapsePicture(result),
  }),
})
