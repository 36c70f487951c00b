// Reports contenders of another library or dialect in a lock's directory. They and our contenders do not wait for each
// other.
import { callLater } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { foreignContendersIn, type Naming } from './dialect.ts'

/** Receives the names of the contenders' nodes, and the path of the directory. */
export type OnForeignContenders = (names: readonly string[], directory: string) => void

/** Returns a function that receives each list of the directory, and reports the first foreign contenders, once. */
export function foreignContenderReport(
  { client, directory, names }: { client: Client; directory: string; names: Naming },
  report: OnForeignContenders = warn,
): (children: readonly string[]) => void {
  let isDone = false
  return children => {
    const foreign = isDone ? [] : foreignContendersIn(children, names)
    if (foreign.length === 0) return
    isDone = true
    callLater(client, () => report(foreign, directory))
  }
}

const warn: OnForeignContenders = ([name], directory) =>
  process.emitWarning(
    `${directory} contains nodes such as ${name}, named by another library or dialect: their owners and this lock do not wait for each other`,
    { code: 'ZKWIRE_FOREIGN_CONTENDERS' },
  )
