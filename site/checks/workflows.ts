// Reads the workflows and forms of .github.
import { parse } from 'yaml'

export interface Step {
  uses?: string
  run?: string
  with?: Readonly<Record<string, unknown>>
}

export interface Job {
  if?: string
  container?: string
  'timeout-minutes': number
  permissions?: Readonly<Record<string, string>>
  environment?: unknown
  needs?: string
  strategy?: { matrix: Readonly<Record<string, readonly (string | number)[]>> }
  steps: readonly Step[]
}

export interface Workflow {
  name: string
  on: Readonly<Record<string, unknown>>
  permissions: Readonly<Record<string, string>>
  jobs: Readonly<Record<string, Job>>
}

/** @throws Error if the text is no YAML */
export const readYaml = (text: string): unknown => parse(text)

/** Returns the commands of a job's steps, one for each value of the matrix that they name. */
export function commandsOf({ steps, strategy }: Job): string[] {
  const matrix = Object.entries(strategy?.matrix ?? {})
  return steps.flatMap(({ run }) => {
    if (run === undefined) return []
    const used = matrix.find(([name]) => run.includes(`\${{ matrix.${name} }}`))
    return used === undefined ? [run] : used[1].map(value => run.replace(`\${{ matrix.${used[0]} }}`, String(value)))
  })
}
