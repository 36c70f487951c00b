// The command line of `npm run bench -- compare`.
import { parsed, UsageError } from '../output/usage.ts'

/** The exit code if the newer result is worse. A comparison that failed exits with 1. */
export const WORSE_EXIT_CODE = 3

export interface Options {
  files: [older: string, newer: string]
  /** The growth of an exact count that is still accepted: 0.1 is 10 %. If undefined, nothing is judged. */
  failIfWorse: number | undefined
}

export const help = `npm run bench -- compare OLDER NEWER [options]

Compares two results of npm start, or of npm run bench -- peers: what they measured, and
whether their server, machine and versions are the same. See bench/README.md.

  --fail-if-worse N%       exit with ${WORSE_EXIT_CODE} if an exact count (notifications, frames, bytes) grew
                           by more than N %, or if the newer run did not measure all that
                           it was asked for
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid, or if there are not two files */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parsed({
    args: [...args],
    options: { 'fail-if-worse': { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help === true) return 'help'
  const [older, newer, ...others] = positionals
  if (older === undefined || newer === undefined || others.length > 0)
    throw new UsageError('pass two files: the older result, and the newer one')
  const limit = values['fail-if-worse']
  return { files: [older, newer], failIfWorse: limit === undefined ? undefined : shareOf(limit) }
}

function shareOf(text: string): number {
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? []
  if (percent === undefined)
    throw new UsageError(`--fail-if-worse: ${JSON.stringify(text)} is not a percentage, such as 10%`)
  return Number(percent) / 100
}
