// The command line of `npm run bench -- docs`, and the runs that documents quote. Pure.
import { UsageError, valuesOf } from '../../bench/output/usage.ts'

/** One run that documents quote. */
export interface MeasuredRun {
  name: string
  /** The start of its command line, as its result says it. */
  command: string
  program: string
  args: readonly string[]
  /** The arguments of a run of some seconds that checks the command, and changes no document. */
  quick: readonly string[]
  minutes: number
}

const [START, HERD] = ['npm start --', 'bench/main.ts']
const QUICK = 'bench/results/quick'

export const runs: readonly MeasuredRun[] = [
  {
    ...{ name: 'herd', command: START, program: HERD, minutes: 3 },
    args: ['--apache', '--seconds', '120', '--json', 'docs/herd.json'],
    quick: ['--apache', '--seconds', '5', '--sessions', '5,10', '--json', `${QUICK}/herd.json`],
  },
  {
    ...{ name: 'forecast', command: START, program: HERD, minutes: 5 },
    args: [
      ...['--apache', '--scenarios', 'data,child,recursive,ticket', '--sessions', '10,50,100,200,1000,10000'],
      ...['--seconds', '280', '--json', 'docs/forecast.json'],
    ],
    quick: [
      ...['--apache', '--scenarios', 'data,child,recursive,ticket', '--sessions', '5,10', '--seconds', '5'],
      ...['--json', `${QUICK}/forecast.json`],
    ],
  },
  {
    ...{ name: 'peers', command: 'npm run bench -- peers', program: 'bench/peers/main.ts', minutes: 7 },
    args: ['--json', 'docs/peers.json', '--report', 'bench/results/peers.html'],
    quick: ['--sessions', '2', '--json', `${QUICK}/peers.json`, '--report', `${QUICK}/peers.html`],
  },
  {
    ...{ name: 'services', command: 'npm run bench -- services', program: 'bench/services/main.ts', minutes: 10 },
    args: ['--docs'],
    quick: [
      ...['--sessions', '2,5', '--steps', '1', '--cycles', '2', '--timeout', '0', '--seconds', '0'],
      ...['--json', `${QUICK}/services.json`],
    ],
  },
]

/** Returns each run with its arguments, and with the file of its result. */
export const commandsOf = (
  chosen: readonly MeasuredRun[],
  isQuick: boolean,
): (Pick<MeasuredRun, 'name' | 'command' | 'program' | 'args'> & { file: string })[] =>
  chosen.map(({ name, command, program, args, quick }) => ({
    ...{ name, command, program, args: isQuick ? quick : args },
    file: `${isQuick ? QUICK : 'docs'}/${name}.json`,
  }))

const minutes = runs.reduce((sum, each) => sum + each.minutes, 0)

export const help = `npm run bench -- docs [options]

Measures anew all runs that documents quote, one after the other, and writes these
documents: docs/herd.md, docs/choosing.md with its pictures, and the tables of
bench/README.md. It takes ${minutes} minutes, on a machine that does nothing else, and refuses
changes that are not committed, because all runs must measure one commit.

  --only NAME,...     only these runs: ${runs.map(({ name }) => name).join(', ')}
  --write             measure nothing: write the documents from docs/*.json
  --quick             check the commands with small runs in some minutes; their results
                      are in ${QUICK}, and no document changes
  --help              print this help
`

export interface Options {
  runs: readonly MeasuredRun[]
  isQuick: boolean
}

/** @throws UsageError if an option is unknown or its value is invalid */
export function parse(args: readonly string[]): Options | 'help' {
  const flag = { type: 'boolean' } as const
  const options = { only: { type: 'string' } as const, write: flag, quick: flag, help: flag }
  const { only, write = false, quick = false, help = false } = valuesOf({ args: [...args], options })
  if (help) return 'help'
  const names = only?.split(',') ?? runs.map(({ name }) => name)
  const unknown = names.find(each => runs.every(({ name }) => name !== each))
  if (unknown !== undefined)
    throw new UsageError(`--only: ${JSON.stringify(unknown)} is not one of ${runs.map(({ name }) => name).join(', ')}`)
  return { runs: write ? [] : runs.filter(({ name }) => names.includes(name)), isQuick: quick }
}
