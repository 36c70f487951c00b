// `zkwire judge` as a process: programs in four languages, right ones and wrong ones. Each wrong one makes a classical mistake.
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { javaCommand } from '../../../environment/java-program.ts'
import { PYTHON } from '../../../environment/needs.ts'
import { CURATOR_JARS, provideCurator, provideKazoo } from '../../../environment/other-libraries.ts'
import { openCapture } from '../../../site/capture/capture.ts'
import { trialIn } from '../../../site/capture/trial-link.ts'
import { main, zkwire, type Ended } from './program.ts'

const file = (name: string) => join(import.meta.dirname, 'judged', name)
const java = (name: string) => javaCommand(new URL(`judged/${name}.java`, import.meta.url), { jars: CURATOR_JARS })
const wrongPython = (mistake: string) => [PYTHON, file('wrong_locks.py'), mistake]
const javaScript = (...args: string[]) => [process.execPath, '--import', 'tsx', file('zkwire-lock.ts'), ...args]
const shell = ['sh', file('spin.sh'), `${process.execPath} ${main}`]

interface Case {
  readonly title: string
  readonly program: () => readonly string[] | Promise<readonly string[]>
  readonly options: readonly string[]
  readonly kinds: readonly string[]
  /** What the sentence about the mistake says too. */
  readonly words?: RegExp
}

const WRONG: readonly Case[] = [
  {
    title: 'a waiter that enters when its predecessor is gone, without a look at the queue (kazoo)',
    program: () => wrongPython('no-recheck'),
    options: ['--faults', 'expire', '--trials', '8'],
    kinds: ['overlap', 'order'],
  },
  {
    title: 'a queue in which each change wakes all (kazoo)',
    program: () => wrongPython('herd'),
    options: ['--trials', '1', '--rounds', '1'],
    kinds: ['herd'],
  },
  {
    title: 'a create that is sent again after a lost reply (kazoo)',
    program: () => wrongPython('lost-reply'),
    options: ['--faults', 'reply', '--patience', '4'],
    kinds: ['stuck'],
  },
  {
    title: 'a holder that does not notice the end of its session (kazoo)',
    program: () => wrongPython('kept'),
    options: ['--faults', 'stop', '--patience', '4'],
    kinds: ['kept'],
  },
  {
    title: 'a node whose name is used again, with the node of a session that is about to end (kazoo)',
    program: () => wrongPython('reused-name'),
    options: ['--faults', 'restart', '--allow', 'herd'],
    // Its old node is gone before it releases the lock, or only after another copy has entered.
    kinds: ['overlap', 'foreign'],
  },
  {
    title: 'a release that deletes the node of the next holder (zkwire)',
    program: () => javaScript('foreign'),
    options: ['--faults', 'expire', '--allow', 'herd,order'],
    kinds: ['foreign'],
  },
  {
    title: 'a watch on a node that is gone already (ZooKeeper for Java)',
    program: () => java('WrongLock'),
    options: ['--faults', 'late', '--patience', '4'],
    kinds: ['stuck'],
  },
  {
    // The copy that waits is killed too, and no copy has another round.
    title: 'a node that outlives its owner, also if nobody waits for the lock (shell)',
    program: () => shell,
    options: ['--faults', 'kill', '--copies', '2', '--rounds', '1', '--patience', '4', '--allow', 'herd,order'],
    kinds: ['stuck'],
    words: /copy 1 was killed, and its persistent node \/judge\/lock is left$/,
  },
]

const RIGHT: readonly (readonly [title: string, program: Case['program'], options?: Case['options']])[] = [
  ['kazoo', () => [PYTHON, file('kazoo_lock.py')]],
  [
    'kazoo, whose release waits for a reply that is late',
    () => [PYTHON, file('kazoo_lock.py'), 'reads'],
    ['--faults', 'late', '--copies', '2', '--trials', '4'],
  ],
  ['Curator', () => java('CuratorLock')],
  ['zkwire', () => javaScript()],
]

/** A judge mostly waits, so several run at once. */
const AT_ONCE = 3
const running: Promise<unknown>[] = []

/** Runs the judge when fewer than {@link AT_ONCE} others run that were begun before. */
function judged(args: () => Promise<readonly string[]>): Promise<Ended> {
  const before = running.at(-AT_ONCE)
  const result = (async () => {
    await before
    return zkwire(['judge', ...(await args())])
  })()
  running.push(result.catch(() => undefined))
  return result
}

describe('zkwire judge', function () {
  this.timeout(300_000)
  let folder = ''
  const results = new Map<string, Promise<Ended>>()
  before(async () => {
    await provideCurator()
    await provideKazoo()
    folder = mkdtempSync(join(tmpdir(), 'judge-'))
    for (const [title, program, options = []] of RIGHT)
      results.set(
        title,
        judged(async () => [...options, '--', ...(await program())]),
      )
    for (const { title, program, options } of WRONG) {
      const [svg, saved] = [join(folder, `${title}.svg`), join(folder, `${title}.json`)]
      results.set(
        title,
        judged(async () => ['--json', '--svg', svg, '--save', saved, ...options, '--', ...(await program())]),
      )
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const { title, kinds, words = /./ } of WRONG)
    it(`finds ${title}`, async () => {
      const { status, out, err } = (await results.get(title)) as Ended
      expect(status, out + err).to.equal(1)
      const found = JSON.parse(out) as { verdict: string; words: string; link: string; rows: { kind: string }[] }
      expect(found.verdict, out).to.be.oneOf([...kinds])
      expect(found.words).to.match(words)
      expect(found.rows.map(({ kind }) => kind)).to.include.members(['sent', 'received', 'says', 'judge'])
      expect(readFileSync(join(folder, `${title}.svg`), 'utf8')).to.match(/^<svg [^]*<\/svg>\n$/)
      // The playground opens the saved trial: all of its frames, and the sentence about the mistake.
      const played = await openCapture({ name: title, chunks: [readFileSync(join(folder, `${title}.json`))] })
      const rows = found.rows.filter(({ kind }) => kind === 'sent' || kind === 'received')
      expect(played.frames.length).to.be.at.least(rows.length)
      expect(played.frames.every(({ told }) => told === undefined)).to.equal(true)
      expect(played.notes.join(' ')).to.contain(found.words)
      // The link has the same.
      const linked = await openCapture(trialIn(found.link.slice(1)) ?? expect.fail())
      expect(linked.frames).to.deep.equal(played.frames)
    })

  for (const [title] of RIGHT)
    it(`finds no mistake in the lock of ${title}`, async () => {
      const { status, out, err } = (await results.get(title)) as Ended
      expect(status, out + err).to.equal(0)
      expect(out).to.match(/^No mistake found in \d+ trials: the lock was given \d+ times\.\n$/)
    })
})
