// Rewrites the tables of docs/versions.md from the declarations, and from the packages that this machine has. Run
// `npm run suite -- interop` first, which provides them: node --import tsx test/docs/write-versions.ts
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, unpackedMark } from '../../environment/needs.ts'
import { readDocument } from '../support/document.ts'
import { peerRows, tablesOf, withTables } from './versions-page.ts'

/** The version of Debian ends with that of the package. */
const upstream = (version: string) => version.replace(/[+-].*$/, '')

function versionOf({ need, packageName }: (typeof peerRows)[number]): string {
  // The mark contains the name of the archive: NAME_VERSION_ARCHITECTURE.deb.
  if ('suite' in need) return upstream(readFileSync(unpackedMark(need.suite, packageName), 'utf8').split('_')[1] ?? '')
  return upstream(execFileSync('dpkg-query', ['-W', '-f', '${Version}', packageName], { encoding: 'utf8' }))
}

const page = 'docs/versions.md'
writeFileSync(join(root, page), withTables(readDocument(page), tablesOf(versionOf)))
