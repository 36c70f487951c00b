// Rewrites the codes and messages of docs/troubleshooting.md from the declarations of the errors:
// node --import tsx test/docs/write-troubleshooting.ts
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../environment/needs.ts'
import { readDocument } from '../support/document.ts'
import { withMeanings } from './troubleshooting-page.ts'

const page = 'docs/troubleshooting.md'
writeFileSync(join(root, page), withMeanings(readDocument(page)))
