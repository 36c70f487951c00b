// One trial: copies of the program lock in turn, while the planned faults hit them. Ends at the first mistake.
import type { Clock } from '../../runtime/clock.ts'
import { eventTypes, opcodes } from '../../protocol/index.ts'
import { Server, type Fault, type TransactionRecord } from '../../server/index.ts'
import type { Address } from '../../transport/transport.ts'
import { toldLineOf } from '../conversation/told-line.ts'
import { Copy } from './copy.ts'
import type { Moment, Plan, PlannedFault } from './plan.ts'
import { FINDINGS, type Finding, type FindingKind, type Row, type WireLine } from './record.ts'
import { leftBehind, overtakenBy } from './traces-left.ts'

export interface TrialOptions {
  readonly plan: Plan
  /** The program and its arguments. */
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** How long the judge waits for what must happen, in milliseconds. */
  readonly patience: number
  /** The mistakes that do not count. They do not end the trial, so that others are found. */
  readonly allowed: readonly FindingKind[]
  /** Aborts the trial. */
  readonly signal: AbortSignal
}

export interface TrialResult {
  readonly plan: Plan
  /** The mistakes that count: at most one that ends the trial, or those that its end shows. */
  readonly findings: readonly Finding[]
  readonly rows: readonly Row[]
  /** How often a copy got the lock. */
  readonly grants: number
  /** How often it went from one copy to another that had waited for it, and the notifications of all that waited. */
  readonly handovers: number
  readonly notifications: number
  /** The largest part of its time that was needed by something that must happen, and did: 1 or more if it came last. */
  readonly slowest: number
}

/** The node of the lock. */
export const LOCK = '/judge/lock'

/** How long a waiting copy sends nothing before it counts as settled, in milliseconds, and how long that is waited for. */
const QUIET = 40
const MOST_UNQUIET = 1500
/** How often what is waited for is looked at, in milliseconds. */
const LOOK = 5
/** How many times as long the judge waits for copies that send requests. */
const EXTENDED = 2
/** A longer time for the first line, because machines of Java start slowly. */
const STARTS_PER_PATIENCE = 4
/** A server that lags gets all messages so much later, in milliseconds. */
const LAG = 200
/** The ticks of the server, in milliseconds. Sessions last long, so that only the judge ends them. */
const TICK = 500
const SESSION = { minSessionTimeout: 4000, maxSessionTimeout: 30_000 }
/** A queue notifies one copy for each release. More than twice as many are a herd, if there are so many that wait. */
const HERD = 2
const LEAST_WAITERS = 3

/** What the sentence of a frame has beside the request and the reply. */
const UNTOLD = /^(client|server) |, acl: \[.*?\}\]|, zxid 0x[0-9a-f]+$/g

const findingOf = (kind: FindingKind, detail: string): Finding => ({ kind, words: `${FINDINGS[kind]}: ${detail}` })

class Found extends Error {
  readonly finding: Finding

  constructor(kind: FindingKind, detail: string) {
    super(detail)
    this.finding = findingOf(kind, detail)
  }
}

interface Wait {
  readonly ms: number
  readonly otherwise?: () => Found
  /** True if the time counts from the last frame of the copies that wait, up to {@link EXTENDED} times as long. */
  readonly mayExtend?: boolean
}

export class Trial {
  readonly #options: TrialOptions
  readonly #startedAt: number
  readonly #rows: Row[] = []
  #server: Server | undefined
  readonly #copies: Copy[] = []
  #connections = 0
  /** The sessions that have ended without a request of their client. */
  readonly #expired = new Set<bigint>()
  /** The sessions whose client has asked to end them. */
  readonly #closing = new Set<bigint>()
  /** The owners of ephemeral nodes. */
  readonly #owners = new Map<string, bigint>()
  /** The copies whose session has ended while they held the lock, and that must say so. */
  readonly #mustLose = new Set<Copy>()
  /** The faults that have happened. */
  readonly #done = new Set<PlannedFault>()
  /** Replies that are held, or will be. */
  #late: { readonly copy: Copy; readonly fault: Fault }[] = []
  /** The sessions of processes that were killed. */
  readonly #killed = new Set<bigint>()
  /** The sessions that have created the persistent nodes. */
  readonly #creators = new Map<string, bigint>()
  /** The round after which a copy is not asked again. */
  #lastRound: number
  #slowest = 0
  /** What is planned for the next session of a copy that has none. */
  readonly #unarmed = new Map<Copy, (() => void)[]>()
  #found: Found | undefined
  #lastToken: bigint | undefined
  /** How many entries are not judged yet. */
  #unjudged = 0
  #grants = 0
  #handovers = 0

  private constructor(options: TrialOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
    this.#lastRound = options.plan.rounds
  }

  /** Runs a trial. @throws what the signal aborts with, or a CommandError if the program cannot be started */
  static async run(options: TrialOptions): Promise<TrialResult> {
    const trial = new Trial(options)
    const { plan, allowed } = options
    const findings = (await trial.#run()).filter(({ kind }) => !allowed.includes(kind))
    return {
      ...{ plan, findings, notifications: trial.#notifications },
      ...{ rows: trial.#rows, grants: trial.#grants, handovers: trial.#handovers, slowest: trial.#slowest },
    }
  }

  async #run(): Promise<Finding[]> {
    const { plan } = this.#options
    const options = { tickTime: TICK, servers: plan.servers, extendedTypes: true, ...SESSION }
    const server = await Server.start({ ...options, onTransaction: each => this.#committed(each) })
    this.#server = server
    try {
      await this.#start(server)
      for (const copy of this.#copies) await this.#askAgain(copy)
      await this.#untilIdle()
      if (this.#done.size > 0) await this.#lockOnceMore()
      return await this.#end(server)
    } catch (error) {
      if (error instanceof Found) return [error.finding]
      throw error
    } finally {
      // Faults that are held would delay the end of the connections.
      server.faults.clear()
      await Promise.all(this.#copies.map(copy => copy.close()))
      await server.close()
    }
  }

  async #start(server: Server): Promise<void> {
    const { plan, words, env, clock, patience } = this.#options
    const members = server.members.length === 0 ? [server] : server.members
    const servers = members.map(({ host, port }): Address => ({ host, port }))
    for (let number = 1; number <= plan.copies; number++)
      this.#copies.push(
        new Copy({
          ...{ number, words, clock, servers, env: { ...env, ZK_LOCK: LOCK } },
          nextConnection: () => ++this.#connections,
          onWire: (copy, line, wire) => {
            const { frame, sentence } = line
            const sent = frame?.from === 'client'
            if (sent && frame.op === 'closeSession') this.#closing.add(copy.session)
            const kind = frame === undefined ? 'wire' : sent ? 'sent' : 'received'
            this.#note(copy, kind, sentence.replaceAll(UNTOLD, ''), { ...wire, told: toldLineOf(line, true) })
          },
          onLine: (copy, text) => this.#said(copy, text),
          onSession: copy => this.#arm(copy),
          onEnd: (copy, status) => this.#endedWith(copy, status),
          onFlood: ({ number }) =>
            this.#fail(new Found('failed', `copy ${number} prints without end, more than a megabyte or 10,000 lines`)),
        }),
      )
    await Promise.all(this.#copies.map(copy => copy.start()))
    await this.#until(() => this.#copies.every(({ state }) => state !== 'starting'), {
      ms: STARTS_PER_PATIENCE * patience,
      otherwise: () => new Found('failed', `${this.#named('starting')} did not print "ready"`),
    })
  }

  /**
   * Lets a copy lock after all others, because what a killed copy has left keeps it out. No other copy may have waited for the
   * lock at that time.
   */
  async #lockOnceMore(): Promise<void> {
    const idle = this.#copies.filter(({ state }) => state === 'idle')
    const isHit = ({ number }: Copy) => [...this.#done].some(({ copy }) => copy === number)
    const [copy] = [...idle.filter(each => !isHit(each)), ...idle, ...this.#copies]
    if (copy === undefined) return
    if (copy.state === 'ended') await this.#startAgain(copy)
    copy.round = this.#lastRound++
    await this.#askAgain(copy)
    await this.#untilIdle()
  }

  /** Lets the copies lock in turn, until each has had all its rounds. */
  async #untilIdle(): Promise<void> {
    for (;;) {
      await this.#checkLoss()
      if (this.#copies.every(({ state }) => state === 'idle' || state === 'ended')) return
      await this.#until(() => this.#holder !== undefined || this.#count('waiting') === 0, {
        ms: this.#options.patience,
        // Who still talks to the servers may only be slow.
        mayExtend: true,
        otherwise: () =>
          new Found('stuck', `${this.#named('waiting')} waits, and nobody holds the lock${this.#leftByKilled}`),
      })
      const holder = this.#holder
      if (holder === undefined) continue
      await this.#holds(holder)
    }
  }

  get #holder(): Copy | undefined {
    const all = this.#copies.filter(copy => (copy.state === 'holding' || copy.state === 'lost') && !copy.isStopped)
    // One that must lose the lock is waited for first.
    return all.find(({ state }) => state === 'lost') ?? all[0]
  }

  /** All that happens from the entry of a copy to its next request. */
  async #holds(holder: Copy): Promise<void> {
    await this.#settled()
    if (holder.state === 'holding') {
      await this.#happens('holds', holder)
      for (const copy of this.#copies) if (copy.state === 'waiting') await this.#happens('waits', copy)
      await this.#settled()
      await this.#checkLoss()
    }
    // A fault may have ended it.
    if (holder.state !== 'holding' && holder.state !== 'lost') return
    await this.#happens('leaves', holder)
    if (this.#count('waiting') > 0) this.#handovers++
    this.#order(holder, 'unlock', 'leaving')
    await this.#until(() => holder.state !== 'leaving', {
      ms: this.#options.patience,
      otherwise: () => new Found('stuck', `copy ${holder.number} was told to unlock, and does not say "out"`),
    })
    await this.#settled()
    this.#releaseLate()
    await this.#askAgain(holder)
  }

  /** Tells an idle copy to lock, if it has another round. */
  async #askAgain(copy: Copy): Promise<void> {
    if (copy.state !== 'idle' || copy.round >= this.#lastRound) return
    copy.round++
    await this.#happens('asks', copy)
    this.#order(copy, 'lock', 'waiting')
    await this.#settled()
  }

  #order(copy: Copy, order: 'lock' | 'unlock', state: 'waiting' | 'leaving'): void {
    copy.state = state
    this.#note(copy, 'judge', order)
    copy.tell(order)
  }

  /** Waits until the copies that wait have sent all that they send. */
  async #settled(): Promise<void> {
    const isHeld = () => this.#holder !== undefined && this.#late.some(({ fault }) => fault.isHolding)
    await this.#until(() => this.#isQuiet || isHeld(), { ms: MOST_UNQUIET })
  }

  get #isQuiet(): boolean {
    const now = this.#options.clock.now()
    return this.#copies.every(
      ({ state, activeAt }) => (state !== 'waiting' && state !== 'leaving') || now - activeAt >= QUIET,
    )
  }

  /** Sends the replies that are held and that concern these copies. */
  #releaseLate(concerns: (copy: Copy) => boolean = () => true): void {
    const held = this.#late.filter(({ copy, fault }) => fault.isHolding && concerns(copy))
    this.#late = this.#late.filter(each => !held.includes(each))
    for (const { fault } of held) fault.release()
  }

  /**
   * Sends replies whose delay would keep the lock from all copies, as if the program were stuck.
   * @param waited for how long the judge has waited for something, in milliseconds
   */
  #releaseWhatBlocks(waited: number): void {
    // A slow program may send its request after the judge has stopped waiting for it, or only when it unlocks.
    this.#releaseLate(({ state }) => state === 'leaving')
    if (this.#holder !== undefined || this.#count('leaving') > 0) return
    if (this.#isQuiet || waited >= MOST_UNQUIET) this.#releaseLate()
  }

  /** Lets the faults of a moment happen. */
  async #happens(moment: Moment, copy: Copy): Promise<void> {
    for (const fault of this.#options.plan.faults)
      if (fault.kind.moment === moment && fault.copy === copy.number && fault.round === copy.round)
        if (!this.#done.has(fault)) {
          this.#done.add(fault)
          this.#note(copy, 'judge', fault.kind.words)
          await this.#do(fault, copy)
        }
  }

  async #do({ kind }: PlannedFault, copy: Copy): Promise<void> {
    const server = this.#server as Server
    const { operation } = kind
    switch (kind.name) {
      case 'expire':
        server.expireSession(copy.session)
        return this.#afterLoss(copy)
      case 'stop':
        copy.stop()
        server.expireSession(copy.session)
        await this.#afterLoss(copy)
        this.#note(copy, 'judge', 'continues')
        copy.go()
        return
      case 'kill':
        await copy.kill()
        this.#expireAll(copy.sessions)
        return this.#settled()
      case 'restart':
        return this.#restart(copy)
      case 'cut':
        copy.cut()
        return
      case 'elect':
        return server.elect()
      case 'lag':
        return server.followers[0]?.lag(LAG)
      default:
        if (operation !== undefined) this.#plan(copy, kind.name === 'late', operation)
    }
  }

  async #restart(copy: Copy): Promise<void> {
    const { round } = copy
    const sessions = [...copy.sessions]
    await copy.kill()
    await this.#startAgain(copy)
    copy.round = round
    this.#order(copy, 'lock', 'waiting')
    await this.#settled()
    this.#note(copy, 'judge', 'the old session expires')
    this.#expireAll(sessions)
    await this.#settled()
  }

  async #startAgain(copy: Copy): Promise<void> {
    await copy.start()
    await this.#until(() => copy.state !== 'starting', {
      ms: STARTS_PER_PATIENCE * this.#options.patience,
      otherwise: () => new Found('failed', `copy ${copy.number} did not print "ready" after its restart`),
    })
  }

  /** Ends the sessions of a process that was killed. It may have had several at once. */
  #expireAll(sessions: Iterable<bigint>): void {
    for (const session of sessions) {
      this.#killed.add(session)
      this.#server?.expireSession(session)
    }
  }

  /** Names what copies that were killed have left: the end of a session removes no persistent node. */
  get #leftByKilled(): string {
    const paths = [...(this.#server?.snapshot().nodes.keys() ?? [])]
    return [...this.#creators]
      .filter(([path, session]) => this.#killed.has(session) && !paths.some(each => each.startsWith(`${path}/`)))
      .map(
        ([path, session]) =>
          `; copy ${this.#copyOf(session)?.number} was killed, and its persistent node ${path} is left`,
      )
      .join('')
  }

  /** Plans a reply that is lost or late, for the session of the copy. */
  #plan(copy: Copy, isLate: boolean, operation: NonNullable<PlannedFault['kind']['operation']>): void {
    const server = this.#server as Server
    const arm = () => {
      const match = { session: copy.session }
      if (isLate) this.#late.push({ copy, fault: server.faults.hold(operation, match) })
      else server.faults.drop(operation, match)
    }
    if (copy.session !== 0n && this.#isAlive(copy.session)) arm()
    else this.#unarmed.set(copy, [...(this.#unarmed.get(copy) ?? []), arm])
  }

  #arm(copy: Copy): void {
    for (const arm of this.#unarmed.get(copy) ?? []) arm()
    this.#unarmed.delete(copy)
  }

  #isAlive(session: bigint): boolean {
    return this.#server?.snapshot().sessions.some(({ id }) => id === session) === true
  }

  /** The session of a holder has ended: waits until it says so, or another copy holds the lock. */
  async #afterLoss(copy: Copy): Promise<void> {
    const others = () => this.#copies.some(each => each !== copy && each.state === 'holding')
    // A lock without a session goes on, which is seen only if another copy gets it.
    const ms = this.#count('waiting') === 0 ? QUIET : this.#options.patience
    if (copy.state === 'holding') await this.#until(() => copy.state !== 'holding' || others(), { ms })
    else await this.#settled()
  }

  /** Waits until each copy that has lost the lock says so. */
  async #checkLoss(): Promise<void> {
    await this.#until(() => [...this.#mustLose].every(({ state }) => state !== 'holding'), {
      ms: this.#options.patience,
      otherwise: () => {
        const copy = [...this.#mustLose].find(({ state }) => state === 'holding')
        return new Found('kept', `copy ${copy?.number} does not say "lost", and another one has the lock`)
      },
    })
    this.#mustLose.clear()
  }

  async #end(server: Server): Promise<Finding[]> {
    const { plan, patience } = this.#options
    const findings: Finding[] = []
    const isCalm = plan.faults.length === 0
    const add = (kind: FindingKind, detail: string) => findings.push(findingOf(kind, detail))
    const waiters = plan.copies - 1
    const notifications = this.#notifications
    if (isCalm && waiters >= LEAST_WAITERS && notifications > HERD * Math.max(1, this.#handovers))
      add(
        'herd',
        `${notifications} notifications for ${this.#handovers} releases while others wait; ${this.#handovers} are enough`,
      )
    const watches = isCalm ? server.snapshot().watches.filter(({ path }) => !path.startsWith('/zookeeper')) : []
    for (const copy of this.#copies) copy.endInput()
    await this.#until(() => this.#copies.every(({ state }) => state === 'ended'), {
      ms: patience,
      otherwise: () => new Found('failed', `${this.#named('idle')} does not end when its input ends`),
    })
    if (isCalm) for (const words of leftBehind(server.snapshot(), watches, this.#copies)) add('left', words)
    return findings
  }

  /** Called with each line that a copy prints. */
  #said(copy: Copy, text: string): void {
    const [word = '', token] = text.split(/\s+/)
    const { state } = copy
    switch (word) {
      case 'ready':
        if (state === 'starting') copy.state = 'idle'
        break
      case 'in':
        if (state === 'waiting') copy.state = 'holding'
        else this.#fail(new Found('failed', `copy ${copy.number} says "in", and was not told to lock`))
        break
      case 'lost':
        if (state === 'holding') copy.state = 'lost'
        break
      case 'out':
        if (state === 'leaving') copy.state = 'idle'
        else if (state === 'holding') copy.state = 'lost'
        break
      case 'failed':
        this.#failedOnce(copy, text)
    }
    this.#note(copy, 'says', text)
    if (word === 'in' && state === 'waiting') this.#entered(copy, token)
  }

  /** A copy could not lock, or not unlock. It is excused if something has happened to it. */
  #failedOnce(copy: Copy, text: string): void {
    const { plan, allowed } = this.#options
    const isExcused = plan.faults.length > 0 || allowed.includes('failed')
    if (!isExcused)
      return this.#fail(new Found('failed', `copy ${copy.number} prints "${text}", and there was no fault`))
    if (copy.state === 'leaving' || copy.state === 'holding') copy.state = copy.state === 'leaving' ? 'idle' : 'lost'
    else if (copy.state === 'waiting') {
      // It has not locked in this round yet.
      copy.state = 'idle'
      copy.round--
      void this.#askAgain(copy).catch((error: unknown) => this.#fail(error as Found))
    }
  }

  #entered(copy: Copy, token: string | undefined): void {
    copy.grant = ++this.#grants
    const server = this.#server as Server
    const number = token !== undefined && /^\d{1,20}$/.test(token) ? BigInt(token) : undefined
    if (number !== undefined) {
      if (this.#lastToken !== undefined && number <= this.#lastToken)
        this.#fail(new Found('token', `copy ${copy.number} has the token ${number} after ${this.#lastToken}`))
      this.#lastToken = number
    }
    const overtaken = overtakenBy(
      copy,
      this.#copies.filter(({ state }) => state === 'waiting'),
      server.snapshot(),
    )
    // The line of a copy that has left was written before, and may still be in its pipe. Between two timers, all pipes are read.
    const { clock } = this.#options
    this.#unjudged++
    clock.setTimeout(() => clock.setTimeout(() => this.#judge(copy, overtaken), 1), 1)
  }

  #judge(copy: Copy, overtaken: Copy | undefined): void {
    this.#unjudged--
    const other = this.#copies.find(each => each !== copy && each.state === 'holding')
    if (copy.state !== 'holding') return
    if (other === undefined) {
      if (overtaken !== undefined)
        this.#fail(
          new Found('order', `copy ${copy.number} enters before copy ${overtaken.number}, whose node is older`),
        )
    } else if (this.#expired.has(other.session)) {
      this.#mustLose.add(other)
    } else {
      // The other one may have entered later, in the time until this judgement.
      const [first, second] = copy.grant < other.grant ? [copy, other] : [other, copy]
      this.#fail(new Found('overlap', `copy ${second.number} enters while copy ${first.number} holds it`))
    }
  }

  #committed({ session, opcode, changes }: TransactionRecord): void {
    if (opcode === opcodes.closeSession) {
      if (this.#closing.has(session)) return
      this.#expired.add(session)
      const copy = this.#copyOf(session)
      // The session of a process that was started again is another one.
      if (copy !== undefined)
        this.#note(copy, 'judge', `its ${session === copy.session ? '' : 'old '}session has ended at the server`)
      return
    }
    for (const { type, path } of changes) {
      const owner = this.#owners.get(path)
      if (type === eventTypes.NodeCreated) {
        const { ephemeralOwner = 0n } = this.#server?.snapshot().nodes.get(path)?.stat ?? {}
        if (ephemeralOwner === 0n) this.#creators.set(path, session)
        else this.#owners.set(path, ephemeralOwner)
      } else if (type === eventTypes.NodeDeleted) {
        this.#owners.delete(path)
        this.#creators.delete(path)
        const [by, of] = [this.#copyOf(session), owner === undefined ? undefined : this.#copyOf(owner)]
        if (by !== undefined && of !== undefined && by !== of)
          this.#fail(new Found('foreign', `copy ${by.number} deletes ${path} of copy ${of.number}`))
      }
    }
  }

  #copyOf(session: bigint): Copy | undefined {
    return this.#copies.find(({ sessions }) => sessions.has(session))
  }

  #endedWith(copy: Copy, status: number): void {
    this.#note(copy, 'says', `ends with status ${status}`)
    if (this.#isEnding) return
    const why = copy.complaint.trim() === '' ? '' : `:\n${copy.complaint.trim()}`
    this.#fail(new Found('failed', `copy ${copy.number} has ended with status ${status}${why}`))
  }

  get #isEnding(): boolean {
    return this.#copies.every(({ state }) => state === 'idle' || state === 'ended')
  }

  #fail(found: Found): void {
    if (!this.#options.allowed.includes(found.finding.kind)) this.#found ??= found
  }

  #note(copy: Copy, kind: Row['kind'], text: string, line?: WireLine): void {
    const holders = this.#copies.filter(({ state }) => state === 'holding').map(({ number }) => number)
    this.#rows.push({ at: this.#options.clock.now() - this.#startedAt, copy: copy.number, kind, text, holders, line })
  }

  get #notifications(): number {
    return this.#copies.reduce((sum, copy) => sum + copy.notifications, 0)
  }

  #count(state: Copy['state']): number {
    return this.#copies.filter(copy => copy.state === state).length
  }

  #named(state: Copy['state']): string {
    const numbers = this.#copies.filter(copy => copy.state === state).map(({ number }) => number)
    return `copy ${numbers.join(' and copy ')}`
  }

  /** Waits until the condition holds. @throws Found when a mistake has been found, or if `ms` pass and there is `otherwise` */
  async #until(condition: () => boolean, { ms, otherwise, mayExtend = false }: Wait): Promise<void> {
    const { clock, signal } = this.#options
    const since = clock.now()
    for (;;) {
      const waiting = mayExtend ? this.#copies.filter(({ state }) => state === 'waiting') : []
      const active = Math.min(since + (EXTENDED - 1) * ms, ...waiting.map(({ activeAt }) => activeAt))
      const until = Math.max(since, waiting.length === 0 ? since : active) + ms
      signal.throwIfAborted()
      if (this.#found !== undefined) throw this.#found
      this.#releaseWhatBlocks(clock.now() - since)
      // The holder must not leave before the entry of another copy is judged, or two holders are not seen.
      const isJudged = this.#unjudged === 0
      if (isJudged && condition()) {
        if (otherwise !== undefined) this.#slowest = Math.max(this.#slowest, (clock.now() - since) / ms)
        return
      }
      if (isJudged && clock.now() >= until) {
        if (otherwise === undefined) return
        throw otherwise()
      }
      await new Promise<void>(resolve => void clock.setTimeout(resolve, LOOK))
    }
  }
}
