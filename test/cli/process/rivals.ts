// A program under `zkwire lock` that leaves much behind, and the next holder of its lock. Both write into one file.
import { expect } from 'chai'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { runAtExit } from '../../../environment/at-exit.ts'
import { commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'

/** Marks the processes of a test, whatever their group and session. */
const MARK = 'ZKWIRE_TEST_RIVALS'

/** Writes lines until it is killed. `trap ''` is inherited by all that it starts. */
const STUBBORN = `trap '' TERM HUP INT; while :; do echo "first $0" >> "$FILE"; sleep 0.01; done`

/** Cleans up for some time after SIGTERM. */
const CLEANING = `trap 'i=0; while [ $i -lt 30 ]; do echo cleaning >> "$FILE"; sleep 0.01; i=$((i + 1)); done; exit' TERM
echo ready; while :; do sleep 0.01; done`

/** What each kind of descendant starts, in the background of the program. */
export const descendants = {
  'a child that ignores SIGTERM': `sh -c "$STUBBORN" child &`,
  'a child of timeout, which makes a process group of its own': `timeout 600 sh -c "$STUBBORN" timed &`,
  'a job of a shell with job control': `bash -c 'set -m; sh -c "$STUBBORN" job & wait' &`,
  'a grandchild whose parent has ended': `(sh -c "$STUBBORN" orphan & ) &`,
} as const

/** How the program itself goes on, after it has started its descendants and printed `ready`. */
export const leaders = {
  waits: 'while :; do sleep 0.02; done',
  ends: 'exit 0',
  'ignores SIGTERM': 'exec sh -c "$STUBBORN" leader',
} as const

export class Rivals {
  readonly #directory = mkdtempSync(join(tmpdir(), 'zkwire-rivals-'))
  readonly file = join(this.#directory, 'lines')
  readonly #mark = `${process.pid}-${Math.random()}`
  readonly #cancelAtExit = runAtExit(() => this.kill(() => true))

  /** The environment of the program. */
  get env(): Record<string, string> {
    return { FILE: this.file, STUBBORN, CLEANING, [MARK]: this.#mark }
  }

  get lines(): string[] {
    try {
      return readFileSync(this.file, 'utf8').split('\n').slice(0, -1)
    } catch {
      return []
    }
  }

  /** The pids of all processes of this test: of zkwire, its watchdog, its terminal, and its program. */
  get pids(): number[] {
    return this.#pidsWith(this.#mark)
  }

  /** The pids of the processes that the program has started, and of itself. */
  get programs(): number[] {
    return this.#pidsWith('ZKWIRE_TOKEN=')
  }

  #pidsWith(text: string): number[] {
    return readdirSync('/proc').flatMap(name => {
      try {
        const environment = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/environ`, 'latin1') : ''
        return environment.includes(this.#mark) && environment.includes(text) ? [Number(name)] : []
      } catch {
        return []
      }
    })
  }

  /** Waits until each kind of process has written a line. */
  hasLinesOf(...names: string[]): Promise<void> {
    return until(() => names.every(name => this.lines.includes(`first ${name}`)))
  }

  /**
   * Becomes the next holder, and writes a line. Then waits until the first program is gone, and looks for its lines.
   * @param mayBeSilent true if the first program may have been killed before its first line
   */
  async succeed(client: Client, path: string, mayBeSilent = false): Promise<void> {
    await using _held = await new Mutex(client, path).acquire({ timeout: 20_000 })
    appendFileSync(this.file, 'next\n')
    // Time for a line of each process that has outlived the lock.
    const count = this.lines.length
    await until(() => this.programs.length === 0).catch((error: unknown) => {
      throw new Error(`processes of the first holder are left: ${this.lines.slice(count - 1, count + 3).join()}`, {
        cause: error,
      })
    })
    const after = this.lines.slice(this.lines.indexOf('next') + 1)
    expect(after, 'lines of the first holder after the first line of the next one').to.deep.equal([])
    expect(this.lines)
      .to.include.members(['next'])
      .and.have.length.greaterThan(mayBeSilent ? 0 : 1)
  }

  /** Kills some of the processes. Does nothing if they have ended meanwhile. */
  kill(isMeant: (pid: number) => boolean): void {
    for (const pid of this.pids.filter(isMeant))
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
  }

  [Symbol.dispose](): void {
    this.kill(() => true)
    this.#cancelAtExit()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

export const isWatchdog = (pid: number): boolean => commandOf(pid).includes('watchdog-main')
