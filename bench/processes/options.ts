// What the command lines of all programs that measure processes in rounds have in common.
import { UsageError, wholeNumber } from '../output/usage.ts'

export interface Rounds<W> {
  workloads: W[]
  rounds: number
  /** Length of the warm-up, ms. */
  warmUp: number
  /** Length of each measurement, ms. */
  span: number
  /** Options of node for the measuring processes. */
  execArgv: string[]
}

type Lengths = Pick<Rounds<never>, 'rounds' | 'warmUp' | 'span'>

const text = { type: 'string' } as const

export const roundsOptions = {
  rounds: text,
  only: text,
  'warm-up': text,
  span: text,
  'node-option': { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const

interface Values {
  only?: string
  rounds?: string
  'warm-up'?: string
  span?: string
  'node-option'?: string[]
}

/** @throws UsageError if a value is invalid, or if no workload is chosen */
export function roundsOf<W extends { name: string }>(
  values: Values,
  workloads: readonly W[],
  defaults: Lengths,
): Rounds<W> {
  const { only = '' } = values
  const chosen = workloads.filter(({ name }) => name.includes(only))
  if (chosen.length === 0)
    throw new UsageError(
      `--only: no name contains ${JSON.stringify(only)}. The names are: ${workloads.map(({ name }) => name).join('; ')}`,
    )
  const number = (option: 'rounds' | 'warm-up' | 'span', value: number) =>
    values[option] === undefined ? value : wholeNumber(option, values[option])
  return {
    workloads: chosen,
    rounds: number('rounds', defaults.rounds),
    warmUp: number('warm-up', defaults.warmUp),
    span: number('span', defaults.span),
    execArgv: values['node-option'] ?? [],
  }
}

/** Returns the lines of these options for a help. */
export const roundsHelp = ({ rounds, warmUp, span }: Record<keyof Lengths, number | string>): string => `\
  --only TEXT              only those whose names contain TEXT
  --rounds N               rounds (${rounds})
  --warm-up MS             length of the warm-up, ms (${warmUp})
  --span MS                length of each measurement, ms (${span})
  --node-option OPTION     pass OPTION to node in the measuring processes, for example
                           --node-option=--cpu-prof
  --help                   print this help
`
