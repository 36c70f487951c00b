// A run: all recipes of all libraries on one server, one after the other.
import { seededRandom } from '../../environment/seeded-random.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import type { Server } from '../harness/server.ts'
import { SESSION_TIMEOUT } from '../harness/sessions.ts'
import type { Progress } from '../output/progress.ts'
import { Contest, type Step } from './contest.ts'
import { Driver } from './driver.ts'
import type { Library, Recipe } from './libraries.ts'
import { Links } from './links.ts'
import type { Provided } from './provide.ts'
import { RemainsOf, SHORT_TIMEOUT, type Remains, type Site } from './remains.ts'
import { cellOf, growthOf, type PeersResult } from './result.ts'
import { shuffle } from '../../src/runtime/shuffle.ts'

/** The number of contenders of the release that the report draws, if there are so many. */
const RECORDED = 12
/**
 * The releases that come first, so that code is compiled, and the steps that are not counted at each size, because the
 * first holder has not waited.
 */
const WARM_UP = { releases: 30, steps: 2 }
const STEPS = { least: 3, most: 6 }
/** The time after which a cell has no further step, ms. */
const CELL_TIME = 500
/** The length of the name of each directory. It is the same for all recipes, because requests contain their paths. */
const PATH_LENGTH = 12
/** The number of contenders that the faults need. */
const LEAST_SESSIONS = 8
/** How long the sessions of killed contenders may take to expire, ms. */
const EXPIRED = 3 * SHORT_TIMEOUT
/** The time in which the nodes of an aborted run must be removed, ms. */
const CLEAN_UP_TIMEOUT = 2000

export type Findings = Pick<
  PeersResult,
  'cells' | 'growth' | 'recordings' | 'roundTrips' | 'remains' | 'watchesAtEnd'
> & {
  /** Why a recipe could not be measured, by its id. */
  failures: Map<string, string>
}

export interface PeersRunOptions {
  sizes: readonly number[]
  seed: number
  /** No further recipe is measured after this time, s. */
  seconds: number
}

export class PeersRun {
  readonly findings: Findings = {
    ...{ cells: [], growth: [], recordings: [], roundTrips: [], remains: [], watchesAtEnd: 0 },
    failures: new Map(),
  }
  readonly #options: PeersRunOptions
  readonly #server: Server
  readonly #progress: Progress
  readonly #signal: AbortSignal
  readonly #root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  readonly #killed: { remains: RemainsOf; recipe: string; found: Omit<Remains, 'nodesOfKilled'> }[] = []
  readonly #ends: number

  /** @param signal aborts the run, which then ends its programs and removes its nodes */
  constructor(options: PeersRunOptions, server: Server, progress: Progress, signal: AbortSignal) {
    this.#options = options
    this.#server = server
    this.#progress = progress
    this.#signal = signal
    this.#ends = performance.now() + 1000 * options.seconds
  }

  async measure(provided: ReadonlyMap<Library, Provided>): Promise<void> {
    const admin = await connect(this.#server.servers, { sessionTimeout: SESSION_TIMEOUT, signal: this.#signal })
    // If a signal has ended the server too, a call of this session would wait for a whole session timeout.
    let limit: NodeJS.Timeout | undefined
    const limitCleanUp = () => (limit = setTimeout(() => void admin.close(), CLEAN_UP_TIMEOUT))
    this.#signal.addEventListener('abort', limitCleanUp)
    try {
      await admin.create(this.#root)
      for (const [library, { command }] of shuffle([...provided], seededRandom(this.#options.seed))) {
        const left = [...library.recipes]
        // After a failure the state of the contenders is unknown, so the next recipe gets new ones.
        while (left.length > 0 && !this.#refuseIfLate(left)) {
          const stage = new Stage(new Driver(command), admin, this.#server)
          const stop = () => void stage.close()
          this.#signal.addEventListener('abort', stop)
          try {
            await this.#measureRecipes(left, stage)
          } finally {
            this.#signal.removeEventListener('abort', stop)
            await stage.close()
          }
        }
      }
      await this.#countNodesOfKilled()
    } finally {
      this.#progress.clear()
      // If the server does not answer any more, the error of the run says why.
      await admin.deleteRecursive(this.#root).catch(() => undefined)
      this.#signal.removeEventListener('abort', limitCleanUp)
      clearTimeout(limit)
      await admin.close()
    }
  }

  /** Takes the recipes out of the list, up to the first one that fails. */
  async #measureRecipes(recipes: Recipe[], stage: Stage): Promise<void> {
    const measured: { recipe: Recipe; remains: RemainsOf; found: Omit<Remains, 'nodesOfKilled'> }[] = []
    await this.#attempt(recipes, async () => {
      await stage.open(Math.max(LEAST_SESSIONS, ...this.#options.sizes))
    })
    while (recipes.length > 0 && !this.#refuseIfLate(recipes)) {
      const isDone = await this.#attempt(recipes, async recipe => {
        measured.push(await this.#measureRecipe(recipe, stage))
        recipes.shift()
      })
      if (!isDone) break
    }
    await this.#attempt([...measured.map(({ recipe }) => recipe)], async () => {
      await stage.driver.closeSessions()
      for (const { recipe, remains, found } of measured) {
        await remains.joinForKill()
        this.#killed.push({ remains, recipe: recipe.id, found })
      }
    })
    await stage.driver.kill()
  }

  /** Empties the list, with the reason, if the time is over. */
  #refuseIfLate(recipes: Recipe[]): boolean {
    if (performance.now() <= this.#ends) return false
    for (const { id } of recipes.splice(0))
      this.findings.failures.set(id, `the time of ${this.#options.seconds} s was over`)
    return true
  }

  /** Returns false if that failed. The first recipe of the list is then removed from it, with the reason. */
  async #attempt(recipes: Recipe[], work: (first: Recipe) => Promise<void>): Promise<boolean> {
    const [first] = recipes
    if (first === undefined) return true
    try {
      this.#signal.throwIfAborted()
      await work(first)
      return true
    } catch (error) {
      this.#signal.throwIfAborted()
      this.findings.failures.set(first.id, (error as Error).message)
      recipes.shift()
      return false
    }
  }

  async #measureRecipe(recipe: Recipe, stage: Stage) {
    const { cells, growth, recordings, roundTrips } = this.findings
    const directory = `${this.#root}/${recipe.id.padEnd(PATH_LENGTH, '-')}`
    await stage.admin.create(directory)
    const contest = new Contest(recipe, directory, stage.driver, stage.links, stage.serverPid)
    const largest = Math.max(...this.#options.sizes)
    const recorded = Math.min(RECORDED, largest)
    for (const size of [...new Set([...this.#options.sizes, recorded])].sort((a, b) => a - b)) {
      this.#progress.show(`${recipe.name}, ${size} contenders`)
      await contest.grow(size)
      if (size === Math.min(...this.#options.sizes)) await contest.warmUp(WARM_UP.releases)
      for (let i = 0; i < WARM_UP.steps; i++) await contest.step()
      const isMeasured = this.#options.sizes.includes(size)
      if (isMeasured) cells.push(cellOf(recipe.id, size, await this.#stepsOf(contest)))
      const { recording, roundTrips: counted } = await contest.record()
      if (isMeasured) roundTrips.push({ recipe: recipe.id, size, ...counted })
      if (size === recorded) recordings.push(recording)
    }
    await contest.drain()
    growth.push(growthOf(recipe.id, 'release', cells), growthOf(recipe.id, 'join', cells))
    this.#progress.show(`${recipe.name}: contenders give up, and answers are lost`)
    const remains = new RemainsOf(recipe, directory, stage)
    const found = { gaveUp: await remains.gaveUp(), lostAnswers: await remains.lostAnswers() }
    return { recipe, remains, found }
  }

  async #stepsOf(contest: Contest): Promise<Step[]> {
    const steps: Step[] = []
    const ends = performance.now() + CELL_TIME
    while (steps.length < STEPS.least || (steps.length < STEPS.most && performance.now() < ends)) {
      this.#signal.throwIfAborted()
      steps.push(await contest.step())
    }
    return steps
  }

  async #countNodesOfKilled(): Promise<void> {
    const ends = performance.now() + EXPIRED
    this.#progress.show('waiting until the sessions of killed contenders have expired')
    for (const { remains, recipe, found } of this.#killed) {
      let nodesOfKilled = await remains.nodesOfKilled()
      while (nodesOfKilled > 0 && performance.now() < ends) {
        await delay(100, undefined, { signal: this.#signal })
        nodesOfKilled = await remains.nodesOfKilled()
      }
      this.findings.remains.push({ recipe, ...found, nodesOfKilled })
    }
    this.findings.watchesAtEnd = await watchCountOf(addressOf(this.#server))
  }
}

interface Address {
  host: string
  port: number
}

function addressOf({ servers }: Server): Address {
  const [host = '', port] = servers.split(':')
  return { host, port: Number(port) }
}

async function watchCountOf({ host, port }: Address): Promise<number> {
  const mntr = await fourLetterWord(host, port, 'mntr')
  return Number(/^zk_watch_count\s+(\d+)$/m.exec(mntr)?.[1])
}

/** The contenders of one program, and their proxies. */
class Stage implements Site {
  readonly driver: Driver
  readonly admin: Client
  readonly links: Links
  readonly serverPid: number
  readonly #server: Address
  #contenders = 0

  constructor(driver: Driver, admin: Client, server: Server) {
    const [pid] = server.pids
    if (pid === undefined) throw new Error('the peers are measured on a server that this run has started')
    this.#server = addressOf(server)
    this.driver = driver
    this.admin = admin
    this.links = new Links(this.#server)
    this.serverPid = pid
  }

  readonly newContender = (): number => this.#contenders++

  readonly watchCount = (): Promise<number> => watchCountOf(this.#server)

  async open(count: number): Promise<void> {
    const all = Array.from({ length: count }, () => this.newContender())
    for (const who of all) this.driver.send(`open ${who} ${await this.links.open(who)} ${SESSION_TIMEOUT}`)
    await this.driver.until('opened sessions', () => this.driver.haveAll('opened', all))
  }

  /** Kills the program, and closes the proxies. */
  async close(): Promise<void> {
    await this.driver.kill()
    await this.links.close()
  }
}
