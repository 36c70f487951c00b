// The addresses in the playground of the site at which the releases of a report are played.
import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recording } from './measure/recording.ts'
import type { Playable } from './report/report.ts'

const built = fileURLToPath(new URL('../site/dist/playground.html', import.meta.url))

/**
 * Returns the addresses by the names of the scenarios. There is none if the playground has not been built.
 * @param report the file of the report, from whose folder the addresses start
 */
export async function playableFrom(report: string, recordings: readonly Recording[], page = built): Promise<Playable> {
  if (!existsSync(page)) return new Map()
  // Loaded late, because most runs have no playground.
  const { releaseAddresses } = await import('../site/world/release-link.ts')
  return releaseAddresses(recordings, encodeURI(relative(dirname(resolve(report)), page)))
}
