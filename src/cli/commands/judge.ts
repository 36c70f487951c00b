// `zkwire judge`.
import { access, constants, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { linesOf, relevantOf, svgOf } from '../judge/diagram.ts'
import { FAULT_NAMES, plansFor, smallerThan, wordsOf, type Plan } from '../judge/plan.ts'
import { FINDINGS, type Finding, type FindingKind } from '../judge/record.ts'
import { savedTrial, trialLinkOf } from '../judge/saved-trial.ts'
import { Trial, type TrialResult } from '../judge/trial.ts'
import { siteAddress } from '../../protocol/site-address.ts'
import { command, type Context } from '../runner/command.ts'
import { statuses, UsageError } from '../runner/failure.ts'
import { escapedLines } from '../runner/text.ts'
import { secondsOf, wholeNumberOf } from '../runner/values.ts'
import { PLAYGROUND_PORT } from './playground.ts'

/** In seconds. */
const PATIENCE = 10
/** How long smaller trials are looked for, in milliseconds. */
const SHRINKING = 12_000

/** @throws UsageError at once, because the verdict may come after minutes */
async function requireWritable(option: string, file: string | undefined): Promise<void> {
  if (file === undefined) return
  const folder = dirname(file)
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw new UsageError(`--${option}: cannot write to the folder ${folder} (${(error as { code?: string }).code})`)
  })
}

const listed = (option: string, text: string | undefined, known: readonly string[]): string[] => {
  const names = (text ?? '').split(',').filter(name => name !== '' && name !== 'none')
  const unknown = names.find(name => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(`--${option}: there is no ${JSON.stringify(unknown)}: write some of ${known.join(',')}`)
}

export const judge = command({
  name: 'judge',
  summary: 'runs copies of a program that locks, with faults, and looks for mistakes',
  details: [
    'CMD is a lock in any language. Its copies run on a server of their own, with the connect string in $ZK_HOSTS, the ' +
      'path of the lock in $ZK_LOCK, and their number in $ZK_COPY. A copy prints ready, and then reads lines. After lock it ' +
      'acquires the lock and prints in, or "in TOKEN"; after unlock it releases it and prints out. It prints lost when it ' +
      'holds the lock no more, and failed when it could not lock or unlock. It ends when its input ends. docs/judge.md has ' +
      'examples in Python and Java.',
    'The first trial has no faults; each other has two. The same --seed has the same faults. Ends with 1 at the first mistake, and ' +
      'shows the smallest trial in which it happens, as a sequence diagram.',
    `Mistakes: ${Object.entries(FINDINGS)
      .map(([kind, words]) => `${kind} (${words})`)
      .join('; ')}.`,
  ],
  arguments: [],
  options: {
    copies: { type: 'string', value: 'N', help: 'how many copies run; default 4' },
    rounds: { type: 'string', value: 'N', help: 'how often each copy locks in a trial; default 2' },
    trials: { type: 'string', value: 'N', help: 'how many trials there are; default 11, which have all faults' },
    seed: { type: 'string', value: 'N', help: 'another number plans other trials; default 1' },
    faults: { type: 'string', value: 'NAMES', help: `only these faults, or none; default ${FAULT_NAMES.join(',')}` },
    allow: { type: 'string', value: 'NAMES', help: 'mistakes that do not count, such as herd,order; default none' },
    patience: {
      type: 'string',
      value: 'SECONDS',
      help: 'how long something that must happen is waited for; default 10',
    },
    svg: { type: 'string', value: 'FILE', help: 'writes the sequence diagram as an SVG too' },
    save: { type: 'string', value: 'FILE', help: 'writes the trial for the playground, which plays it frame by frame' },
  },
  takesProgram: true,
  connects: false,
  endsItself: true,
  examples: [
    'zkwire judge -- python3 lock.py',
    'zkwire judge --faults none --copies 8 -- java -cp lock.jar Lock',
    'zkwire judge --allow herd,order --svg mistake.svg -- ./lock.sh',
    'zkwire judge --save mistake.json -- ./lock.sh',
  ],
  async run(context) {
    const { values, program, out } = context
    if (program.length === 0) throw new UsageError('there is no program: write it after --')
    const allowed = listed('allow', values.allow, Object.keys(FINDINGS)) as FindingKind[]
    await requireWritable('svg', values.svg)
    await requireWritable('save', values.save)
    const plans = plansFor({
      seed: wholeNumberOf('seed', values.seed, 0) ?? 1,
      copies: wholeNumberOf('copies', values.copies, 2) ?? 4,
      rounds: wholeNumberOf('rounds', values.rounds, 1) ?? 2,
      trials: wholeNumberOf('trials', values.trials, 1) ?? 11,
      faults: values.faults === undefined ? FAULT_NAMES : listed('faults', values.faults, FAULT_NAMES),
    })
    const patience = (secondsOf('patience', values.patience) ?? PATIENCE) * 1000
    const run = trialsOf(context, patience, allowed)
    const passed: TrialResult[] = []
    for (const plan of plans) {
      const result = await run(plan)
      const [finding] = result.findings
      if (finding === undefined) {
        passed.push(result)
        continue
      }
      const until = context.clock.now() + SHRINKING
      // A slow machine must not look like a program that is stuck.
      const slowest = Math.max(...[...passed, result].map(each => each.slowest))
      const again = trialsOf(context, patience * Math.min(1, Math.max(1 / 4, 4 * slowest)), allowed)
      const smallest = await shrink({ result, finding }, plan =>
        context.clock.now() < until ? again(plan) : undefined,
      )
      await show(context, smallest, passed.length)
      return statuses.refused
    }
    const grants = passed.reduce((sum, result) => sum + result.grants, 0)
    await out.show({ verdict: 'no mistake found', trials: passed.length, grants }, () => [
      out.paint('green', `No mistake found in ${passed.length} trials: the lock was given ${grants} times.`),
    ])
    return statuses.ok
  },
})

type Run = (plan: Plan) => Promise<TrialResult>

const trialsOf =
  ({ program: words, env, clock, signal }: Context, patience: number, allowed: readonly FindingKind[]): Run =>
  plan =>
    Trial.run({ plan, words, env, clock, patience, allowed, signal })

interface Mistake {
  readonly result: TrialResult
  readonly finding: Finding
}

/**
 * Returns the smallest trial in which the same mistake happens again.
 * @param run returns undefined when there is no more time
 */
async function shrink(mistake: Mistake, run: (plan: Plan) => Promise<TrialResult> | undefined): Promise<Mistake> {
  for (const plan of smallerThan(mistake.result.plan)) {
    const result = await run(plan)
    if (result === undefined) break
    const finding = result.findings.find(({ kind }) => kind === mistake.finding.kind)
    if (finding !== undefined) return shrink({ result, finding }, run)
  }
  return mistake
}

async function show({ values, out }: Context, { result, finding }: Mistake, passed: number): Promise<void> {
  const rows = relevantOf(result.rows)
  if (typeof values['svg'] === 'string') await writeFile(values['svg'], svgOf(rows, firstLine(finding)))
  const conditions = wordsOf(result.plan)
  const where = `in trial ${passed + 1}, with ${conditions.join('; ')}.`
  const saved = typeof values['save'] === 'string' ? values['save'] : undefined
  const trial = savedTrial(result.rows, [`${finding.words},`, where])
  if (saved !== undefined) await writeFile(saved, trial)
  const link = trialLinkOf(trial)
  const told = rows.map(row => ({ ...row, line: undefined }))
  await out.show(
    { verdict: finding.kind, words: finding.words, trials: passed + 1, conditions, link, rows: told },
    () => [out.paint('red', escapedLines(finding.words)), where, '', ...linesOf(rows), '', howToPlay(saved, link)],
  )
}

/** The link is long, so it is printed only if there is no file. */
function howToPlay(saved: string | undefined, link: string | undefined): string {
  if (saved !== undefined) return `To play it frame by frame, run zkwire playground, and open the file ${saved} there.`
  if (link === undefined) return 'With --save FILE, the playground plays it frame by frame.'
  return siteAddress === ''
    ? `To play it frame by frame, run zkwire playground, and open http://127.0.0.1:${PLAYGROUND_PORT}/${link}`
    : `To play it frame by frame, open ${siteAddress}/playground.html${link}`
}

const firstLine = ({ words }: Finding): string => words.split('\n')[0] as string
