// What the contenders of a recipe leave behind: after they gave up, after they were killed, and after the connection
// was lost at the worst moment, when the server has created a node and its answer is lost.
import { isCode, type Client } from '../../src/index.ts'
import type { Driver } from './driver.ts'
import type { Recipe } from './libraries.ts'
import type { Links } from './links.ts'
import { awaitIdle } from './idle.ts'
import { createsOf } from './tally.ts'

/** The numbers of contenders that stay in the queue, and of those that give up behind them. */
const STAYING = 5
const GIVING_UP = 3
/** The time after which they give up, ms. */
const PATIENCE = 250
/** The session timeout of the contenders that are killed, ms. */
export const SHORT_TIMEOUT = 4000
/** The time in which a contender must have the lock after a lost connection, ms. Curator waits for up to a second. */
const RECOVERY = 4000
/** The time in which the next contender must have the lock, ms. */
const NEXT = 1500

interface Left {
  nodes: number
  watches: number
}

export interface GaveUp extends Left {
  /** The number of contenders that gave up. */
  contenders: number
  /** The contenders that got the lock after they had given up. */
  cameBack: number
}

/** The nodes and watches are those of its session after it has released the lock, or after it did not get the lock. */
export interface LostAnswer extends Left {
  /** Which create of a join lost its answer: 1 is the first. */
  create: number
  /** How often acquire() failed, and was called again. */
  failures: number
  /** True if the contender then got the lock within four seconds. */
  gotLock: boolean
  /** True if another contender got the lock while the session of the first lives on. */
  nextGotLock: boolean
}

export interface Remains {
  gaveUp: GaveUp
  /** One entry for each create of a join. */
  lostAnswers: LostAnswer[]
  /** The nodes that are left after the sessions of killed contenders have expired. */
  nodesOfKilled: number
}

export interface Site {
  driver: Driver
  links: Links
  admin: Client
  serverPid: number
  watchCount: () => Promise<number>
  /** Returns the number of a contender that has no session yet. */
  newContender: () => number
}

export class RemainsOf {
  readonly #recipe: Recipe
  readonly #directory: string
  readonly #site: Site
  /** The nodes below the directory of the killed contenders before these joined. */
  #structure = new Set<string>()

  constructor(recipe: Recipe, directory: string, site: Site) {
    this.#recipe = recipe
    this.#directory = directory
    this.#site = site
  }

  /** Some of the contenders with these numbers give up. The contenders 0 to 7 must have a session. */
  async gaveUp(): Promise<GaveUp> {
    const { driver } = this.#site
    const path = await this.#pathOf('gave-up')
    const staying = Array.from({ length: STAYING }, (_, i) => i)
    const leaving = Array.from({ length: GIVING_UP }, (_, i) => STAYING + i)
    await this.#do([this.#joinOf(0, path)], () => driver.has('held', 0))
    await this.#do(
      staying.slice(1).map(who => this.#joinOf(who, path)),
      () => driver.haveAll('joining', staying.slice(1)),
    )
    const before = await this.#left('gave-up')
    // One after the other, because a contender that gives up also notifies the next one.
    for (const who of leaving) await this.#do([this.#joinOf(who, path, PATIENCE)], () => driver.has('gaveup', who))
    const after = await this.#left('gave-up')
    const others = await driver.passOn(0, staying.slice(1), () => this.#idle())
    return { contenders: GIVING_UP, ...since(before, after), cameBack: others.size }
  }

  /** Loses the answer of each create of a join in turn, with sessions of their own. */
  async lostAnswers(): Promise<LostAnswer[]> {
    const all: LostAnswer[] = []
    for (let create = 1; ; create++) {
      const lost = await this.#lostAnswer(create)
      if (lost === undefined) return all
      all.push(lost)
    }
  }

  /** Two contenders join. Call {@link nodesOfKilled} after their program was killed. */
  async joinForKill(): Promise<void> {
    const { driver } = this.#site
    const path = await this.#pathOf('killed')
    const [holder, waiter] = [await this.#open(SHORT_TIMEOUT), await this.#open(SHORT_TIMEOUT)]
    // The first pass creates the nodes that the library keeps.
    await this.#do([this.#joinOf(holder, path, 0, true)], () => driver.has('held', holder))
    await this.#do([`leave ${holder}`], () => driver.has('left', holder))
    this.#structure = await this.#nodesIn('killed')
    await this.#do([this.#joinOf(holder, path, 0, true)], () => driver.has('held', holder))
    await this.#do([this.#joinOf(waiter, path)], () => driver.has('joining', waiter))
  }

  async nodesOfKilled(): Promise<number> {
    const nodes = await this.#nodesIn('killed')
    return [...nodes].filter(node => !this.#structure.has(node)).length
  }

  async #lostAnswer(create: number): Promise<LostAnswer | undefined> {
    const { driver, links } = this.#site
    const name = `lost-${create}`
    const path = await this.#pathOf(name)
    const [victim, next] = [await this.#open(), await this.#open()]
    const join = this.#joinOf(victim, path)
    const enterAndLeave = async () => {
      links.take()
      await this.#do([join], () => driver.has('held', victim))
      const creates = createsOf(links.take(), victim)
      await this.#do([`leave ${victim}`], () => driver.has('left', victim))
      return creates
    }
    // The first pass creates the nodes that the library keeps. The second has only the creates of a join.
    await enterAndLeave()
    const creates = await enterAndLeave()
    const opcode = creates[create - 1]
    let lost: LostAnswer | undefined
    if (opcode !== undefined) {
      const before = await this.#left(name)
      const earlier = creates.slice(0, create).filter(each => each === opcode).length
      void links.of(victim).dropReply(opcode, earlier)
      const { failures, gotLock } = await this.#joinAgain(join, victim)
      if (gotLock) await this.#do([`leave ${victim}`], () => driver.has('left', victim))
      const after = await this.#left(name)
      driver.forget()
      driver.send(this.#joinOf(next, path, 0, true))
      const nextGotLock = await driver.waitsFor(() => driver.has('held', next), NEXT)
      lost = { create, failures, gotLock, ...since(before, after), nextGotLock }
    }
    await driver.closeSessions([victim, next])
    return lost
  }

  /** Calls acquire() again as often as it fails, as programs do. */
  async #joinAgain(join: string, who: number): Promise<{ failures: number; gotLock: boolean }> {
    const { driver } = this.#site
    const deadline = performance.now() + RECOVERY
    const left = () => deadline - performance.now()
    for (let failures = 0; ; failures++) {
      driver.forget()
      driver.send(join)
      try {
        return { failures, gotLock: await driver.waitsFor(() => driver.has('held', who), left()) }
      } catch (error) {
        if (!driver.has('failed', who) || left() < 0) throw error
      }
    }
  }

  async #open(timeout = 30_000): Promise<number> {
    const { driver, links, newContender } = this.#site
    const who = newContender()
    const address = await links.open(who)
    await this.#do([`open ${who} ${address} ${timeout}`], () => driver.has('opened', who))
    return who
  }

  #joinOf(who: number, path: string, patience = 0, isFirst = who === 0): string {
    const { first, others } = this.#recipe.joins
    return `join ${who} ${isFirst ? first : others} ${path} ${patience}`
  }

  async #do(commands: readonly string[], condition: () => boolean): Promise<void> {
    const { driver } = this.#site
    driver.forget()
    driver.send(...commands)
    await driver.until(`end of "${commands[0]}" of ${this.#recipe.name}`, condition)
    await this.#idle()
  }

  #idle(): Promise<void> {
    const { driver, links, serverPid } = this.#site
    return awaitIdle({ pids: [driver.pid, serverPid], passed: () => links.passed })
  }

  /** Creates a directory for one fault, and returns the path of the lock below it. */
  async #pathOf(name: string): Promise<string> {
    await this.#site.admin.create(`${this.#directory}/${name}`)
    return `${this.#directory}/${name}/l`
  }

  /** Counts the nodes below the directory of a fault, and the watches of all sessions. */
  async #left(name: string): Promise<Left> {
    return { nodes: (await this.#nodesIn(name)).size, watches: await this.#site.watchCount() }
  }

  async #nodesIn(name: string): Promise<Set<string>> {
    const found = new Set<string>()
    const visit = async (path: string): Promise<void> => {
      const children = await this.#site.admin.getChildren(path).then(
        list => list.children,
        (error: unknown) => {
          if (isCode(error, 'NONODE')) return []
          throw error
        },
      )
      for (const child of children) {
        found.add(`${path}/${child}`)
        await visit(`${path}/${child}`)
      }
    }
    await visit(`${this.#directory}/${name}`)
    return found
  }
}

const since = (before: Left, after: Left): Left => ({
  nodes: after.nodes - before.nodes,
  watches: after.watches - before.watches,
})
