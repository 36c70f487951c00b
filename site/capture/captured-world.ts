// A file as a world: it stands between two frames, and goes on and back, but nobody can change it.
import type { ServerMessage } from '../world/member-message.ts'
import {
  isActive,
  type ClientPicture,
  type Holding,
  type JournalEntry,
  type NodeChange,
  type Picture,
  type SaidPicture,
} from '../world/picture.ts'
import { count, hex } from '../world/picture-of.ts'
import type { Story } from '../world/story.ts'
import type { WireFrame } from '../world/wire-frame.ts'
import type { ShownWorld } from '../world/world.ts'
import type { Capture, Step } from './capture.ts'
import { Known } from './known.ts'

/** How often the page looks while no frame is due, in milliseconds, because sessions run out. */
const LOOK = 50
/** A time without frames that ends what {@link CapturedWorld.settle} waits for, and the longest wait, in milliseconds. */
const QUIET = 20
const LONGEST_UNREST = 60_000
/** How many entries of a journal are shown. */
const JOURNAL = 50
/** How many lines of the judge and the programs are shown below the stage. */
const SAID = 3
/** Where the timeout is in the answer to a connect request. */
const TIMEOUT_AT = 8

/** What is known of a client. */
interface Client {
  readonly id: number
  readonly address: string | undefined
  process: ClientPicture['process']
  state: ClientPicture['state']
  role: ClientPicture['role']
  session: bigint | undefined
  server: number | undefined
  /** The last server that it was connected to. */
  home: number | undefined
  /** True until its session is known to have ended. A session outlives its connections. */
  hasSession: boolean
  connection: number
  timeout: number
  /** When it sent its last frame. */
  sentAt: number
  /** True if it has asked to end its session. */
  isClosing: boolean
  readonly unanswered: Set<number>
  readonly journal: JournalEntry[]
}

export class CapturedWorld implements ShownWorld {
  readonly capture: Capture
  readonly #clients: Client[]
  readonly #servers: Known[]
  readonly #holdings: { -readonly [K in keyof Holding]: Holding[K] }[] = []
  readonly #history: NodeChange[] = []
  /** The last lines of the judge and of the programs, which had no frame between them. */
  #said: SaidPicture[] = []
  #isSaying = false
  /** How many steps and frames have happened. */
  #done = 0
  #shown = 0
  #now = 0

  /** @param frames how many frames have happened */
  constructor(capture: Capture, frames = 0) {
    this.capture = capture
    this.#servers = capture.servers.map(() => new Known(session => capture.sessions.get(session)))
    this.#clients = capture.clients.map(client => ({
      ...client,
      ...{ process: 'starting', state: 'connecting', role: 'none', session: undefined, server: undefined },
      ...{
        home: undefined,
        hasSession: false,
        connection: 0,
        timeout: 0,
        sentAt: 0,
        isClosing: false,
        unanswered: new Set(),
        journal: [],
      },
    }))
    while (this.#shown < frames && this.#next !== undefined) this.#happen()
  }

  get now(): number {
    return this.#now
  }

  get dueAt(): number {
    return Math.min(this.#next?.at ?? Infinity, this.#now + LOOK)
  }

  get frames(): readonly WireFrame[] {
    const { frames } = this.capture
    return this.#shown === frames.length ? frames : frames.slice(0, this.#shown)
  }

  /** A file does not have the messages between servers. */
  get messages(): readonly ServerMessage[] {
    return []
  }

  /** True after the end of the file. */
  get isFull(): boolean {
    return this.#next === undefined && this.#now > (this.capture.frames.at(-1)?.arrivesAt ?? 0)
  }

  /** No recipe: a file tells no more than what bare clients send. */
  get story(): Story {
    const { clients, servers } = this.capture
    return {
      scenario: { recipe: 'bare-clients', clients: clients.length, servers: servers.length === 1 ? 1 : 3, seed: 0 },
      commands: [],
      frames: this.#shown,
    }
  }

  step(): Promise<boolean> {
    const shown = this.#shown
    while (this.#shown === shown && this.#next !== undefined) this.#happen()
    return Promise.resolve(this.#shown > shown)
  }

  advance(ms: number): Promise<void> {
    const until = this.#now + ms
    while ((this.#next?.at ?? Infinity) <= until) this.#happen()
    this.#now = until
    return Promise.resolve()
  }

  advanceToFrame(ms: number): Promise<void> {
    const [shown, until] = [this.#shown, this.#now + ms]
    while ((this.#next?.at ?? Infinity) <= (this.#shown === shown ? until : this.#now)) this.#happen()
    if (this.#shown === shown) this.#now = until
    return Promise.resolve()
  }

  /** Goes on until no request waits for its answer and no frame comes soon. */
  settle(): Promise<void> {
    const until = this.#now + LONGEST_UNREST
    const isAtRest = () => this.#clients.every(({ unanswered }) => unanswered.size === 0)
    do this.#happen()
    while (this.#next !== undefined && this.#now < until && !(isAtRest() && this.#next.at > this.#now + QUIET))
    return Promise.resolve()
  }

  /** What has happened has happened. */
  act(): Promise<boolean> {
    return Promise.resolve(false)
  }

  replayed(frames: number): Promise<ShownWorld> {
    return Promise.resolve(new CapturedWorld(this.capture, frames))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  history(path?: string): NodeChange[] {
    return this.#history.filter(change => path === undefined || change.path === path)
  }

  picture(): Picture {
    const frames = count(this.frames)
    return {
      ...{ now: this.#now, story: this.story },
      clients: this.#clients.map(client => this.#clientPicture(client)),
      servers: this.#servers.map(({ zxid, nodes, watches }, i) => ({
        ...{
          id: i + 1,
          address: this.capture.servers[i],
          mode: 'unknown',
          isObserver: false,
          isCutOff: false,
          lag: 0,
          epoch: 0,
        },
        zxid: hex(zxid),
        nodes: [...nodes.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
        watches: watches.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
        sessions: this.#clients.flatMap(({ id, session, hasSession, timeout, server, home }) =>
          session === undefined || !hasSession || home !== i + 1
            ? []
            : [{ id: hex(session), client: id, timeout, isConnected: server === home, ephemerals: [] }],
        ),
      })),
      said: this.#said,
      messages: [],
      operations: [],
      store: { token: undefined, writes: [] },
      holdings: this.#holdings,
      counters: { all: frames, thisRelease: count([]) },
      releases: [],
    }
  }

  #clientPicture(client: Client): ClientPicture {
    const { id, address, process, state, session, server, timeout, sentAt, role, unanswered, journal } = client
    return {
      ...{ id, address, process, state, role, server },
      ...{ stoppedUntil: undefined, unpluggedUntil: undefined, node: undefined, token: undefined, ended: undefined },
      session: session === undefined ? undefined : hex(session),
      lease: { left: Math.max(0, timeout - (this.#now - sentAt)), of: timeout },
      isConfirmed: !isActive(role) || this.#holdingOf(id)?.lostAt === undefined,
      requests: [...unanswered],
      watches: this.#servers.flatMap(({ watches }) => watches.filter(watch => watch.client === id)),
      journal: journal.slice(-JOURNAL),
    }
  }

  get #next(): Step | undefined {
    return this.capture.steps[this.#done]
  }

  #happen(): void {
    const step = this.#next
    if (step === undefined) return
    this.#done++
    this.#now = Math.max(this.#now, step.at)
    const client = this.#clients[step.client - 1]
    if (client === undefined) return
    if (client.process === 'starting') client.process = 'running'
    if (step.frame === undefined) this.#told(client, step)
    else this.#sent(client, step.frame)
  }

  #sent(client: Client, frame: WireFrame): void {
    this.#shown++
    this.#isSaying = false
    const { n, kind, direction, connection, server, sentAt, answers, opcode } = frame
    if (connection !== client.connection) client.unanswered.clear()
    client.connection = connection
    client.server = client.home = server
    if (kind !== 'connect' && client.state === 'connecting') client.state = 'connected'
    if (direction === 'up') {
      client.sentAt = sentAt
      client.isClosing = opcode === CLOSE
      if (kind === 'request') client.unanswered.add(n)
      if (kind === 'connect') client.state = 'connecting'
      return
    }
    if (answers !== undefined) client.unanswered.delete(answers)
    if (kind === 'connect') this.#connected(client, frame)
    const request = answers === undefined ? undefined : this.capture.frames[answers - 1]
    const session = client.session === undefined ? '' : hex(client.session)
    const known = this.#servers[server - 1]
    if (known !== undefined) this.#history.push(...known.learn(frame, request, session))
    if (request?.opcode !== CLOSE) return
    client.state = 'closed'
    client.hasSession = false
  }

  #connected(client: Client, { bytes }: WireFrame): void {
    if (bytes.length < TIMEOUT_AT + 12) {
      client.state = 'connected'
      return
    }
    const answer = Buffer.from(bytes)
    client.timeout = answer.readInt32BE(TIMEOUT_AT)
    client.hasSession = client.timeout > 0
    client.state = client.hasSession ? 'connected' : 'expired'
    if (client.hasSession) client.session = answer.readBigInt64BE(TIMEOUT_AT + 4)
    else for (const known of this.#servers) known.forget(client.id)
    client.timeout = Math.max(0, client.timeout)
  }

  /** A line that is not about a frame. */
  #told(client: Client, { at, connection, server, row }: Step): void {
    const { sentence, says, judge, holders, client: address, joined, closed } = row
    const text = textOf(row, sentence)
    client.journal.push({ at, kind: says !== undefined ? 'lock' : judge !== undefined ? 'event' : 'state', text })
    if (says !== undefined || judge !== undefined) {
      this.#said = [...(this.#isSaying ? this.#said : []), { client: client.id, text }].slice(-SAID)
      this.#isSaying = true
    }
    if (address !== undefined) {
      client.connection = connection
      client.server = server
      client.unanswered.clear()
      client.state = joined === true ? 'connected' : 'connecting'
    }
    if (closed === true && connection === client.connection) {
      client.server = undefined
      client.unanswered.clear()
      if (client.state !== 'expired' && client.state !== 'closed')
        client.state = client.isClosing ? 'closed' : 'suspended'
      for (const known of this.#servers) known.unwatch(client.id)
    }
    client.process = processAfter(row) ?? client.process
    if (judge === 'lock') client.role = 'waiting'
    if (judge === SESSION_ENDED) this.#sessionEnded(client, at)
    if (judge === OLD_SESSION_ENDED && client.session !== undefined)
      for (const known of this.#servers) known.forget(client.id, hex(client.session))
    // The judge writes whom it kills while the process still runs.
    if (holders !== undefined) this.#hold(new Set(holders.filter(id => this.#clients[id - 1]?.process !== 'dead')), at)
  }

  #sessionEnded(client: Client, at: number): void {
    const { id } = client
    client.hasSession = false
    const holding = this.#holdingOf(id)
    if (holding !== undefined && holding.until === undefined) holding.lostAt ??= at
    for (const known of this.#servers) known.forget(id)
  }

  #hold(holders: ReadonlySet<number>, at: number): void {
    for (const client of this.#clients) {
      const holding = this.#holdingOf(client.id)
      const held = holding !== undefined && holding.until === undefined
      if (holders.has(client.id) === held) continue
      client.role = held ? 'done' : 'holding'
      if (held) holding.until = at
      else this.#holdings.push({ client: client.id, at, lostAt: undefined, until: undefined })
    }
  }

  #holdingOf(client: number) {
    return this.#holdings.findLast(holding => holding.client === client)
  }
}

const CLOSE = -11

/** Returns what a line of the judge says about a process. Undefined if it says nothing. */
function processAfter({ says, judge = '' }: Step['row']): ClientPicture['process'] | undefined {
  if (says?.startsWith('ends with status') === true || judge.startsWith('its process is killed')) return 'dead'
  if (judge.startsWith('its process is stopped')) return 'stopped'
  return says !== undefined || judge === 'continues' ? 'running' : undefined
}

/** What the judge notes when a session has ended. */
const SESSION_ENDED = 'its session has ended at the server'
const OLD_SESSION_ENDED = 'its old session has ended at the server'

function textOf({ says, judge }: Step['row'], sentence: string): string {
  if (says !== undefined) return `says ${says}`
  return judge === undefined ? sentence : `from the judge: ${judge}`
}
