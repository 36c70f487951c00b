// The stage on which both libraries play a row of "What bites": one server behind a proxy, and the faults that a program
// asks for.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect, supervise, type Client, type WatchEvent, type ZooKeeperError } from '../../../src/index.ts'
import { LegacyConnectResponse, opcodes } from '../../../src/protocol/index.ts'
import { expireSession, sharedServer } from '../../support/shared-server.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import type { ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { failureOf } from '../../support/settled.ts'
import { FaultProxy } from '../../../environment/fault-proxy.ts'

/** What the binding of npm zookeeper prints itself. */
const NOISE = /^(?:yield:|Session expired)/

/** The session timeout of all programs, ms. */
export const TIMEOUT = 3000

/** A row of "What bites": what both libraries print when they do what it says. */
export interface Bite {
  /** The beginning of the row's first cell, which no other row has. */
  row: string
  /** The program of the other library, without its prelude: it has `fault(words)`. */
  theirs: string
  theyPrint: readonly string[]
  ours: (zk: Client, stage: Stage, print: (...words: unknown[]) => void) => Promise<void>
  wePrint: readonly string[]
}

/** Resolves with the code of the error of a call that must reject, and with its fate, if it is a request. */
export async function failure(call: Promise<unknown>): Promise<string> {
  const { code, fate } = (await failureOf(call)) as Pick<ZooKeeperError, 'code' | 'fate'>
  return [code, fate].join(' ').trimEnd()
}

/** Watches /app once. Resolves when the server has the watch, with a function that returns the event. */
export async function watchOnce(zk: Client): Promise<() => Promise<WatchEvent>> {
  let reading: Promise<unknown> | undefined
  const event = new Promise<WatchEvent>(resolve => {
    reading = zk.getData('/app', { watch: resolve })
  })
  await reading
  return () => event
}

/** After a reconnect, the client sets a watch of a read again, and reports `resync` to a persistent watch. */
export const setsWatchesAgain: Bite['ours'] = async (zk, stage, print) => {
  const event = await watchOnce(zk)
  const watcher = await zk.addWatch('/app')
  await stage.fault('cut')
  print((await watcher.next()).value?.type)
  await stage.fault('write /app two')
  print((await event()).type)
}

/** A callback runs in the event loop, which waits for its end. */
export const blocksInCallback: Bite['ours'] = async (zk, stage, print) => {
  const timer = new Promise<void>(resolve => {
    const watch = () => {
      setTimeout(() => {
        print('timer')
        resolve()
      })
      for (const end = performance.now() + 50; performance.now() < end;);
      print('callback')
    }
    void zk.getData('/app', { watch })
  })
  await zk.sync('/app')
  await stage.fault('write /app two')
  await timer
}

export type Command = readonly [program: string, ...args: string[]]

export class Stage implements AsyncDisposable {
  readonly server: ApacheZooKeeper
  readonly proxy: FaultProxy
  /** A client that the faults do not concern. */
  readonly admin: Client
  /** The replies that are to be dropped and were not. */
  #planned = 0

  private constructor(server: ApacheZooKeeper, proxy: FaultProxy, admin: Client) {
    this.server = server
    this.proxy = proxy
    this.admin = admin
  }

  static async open(): Promise<Stage> {
    const server = await sharedServer()
    const stage = new Stage(server, await FaultProxy.start(server), await connect(server.connectString))
    await stage.admin.deleteRecursive('/app')
    await stage.admin.create('/app', 'one')
    return stage
  }

  /** The connect string of the proxy. */
  get hosts(): string {
    return this.proxy.connectString
  }

  connect(): Promise<Client> {
    return connect(this.hosts, { sessionTimeout: TIMEOUT, attemptTimeout: 500 })
  }

  /** Runs `fn` with each session, as supervise() does, until it resolves with true. */
  async supervise(fn: (zk: Client, run: number) => Promise<boolean>): Promise<void> {
    let run = 0
    await supervise(this.hosts, { sessionTimeout: TIMEOUT, attemptTimeout: 500 }, async (zk, signal) => {
      if (!(await fn(zk, ++run)) && !signal.aborted) await once(signal, 'abort')
    })
  }

  /**
   * `drop OPCODE` executes the next such request and resets the connection instead of its reply. `cut` resets all
   * connections, `away` also keeps new ones silent, until `back`. `expire` ends the session of the last connection.
   * `write PATH DATA` is a change by another client. `some OPCODE` and `no OPCODE` reject unless there
   * was such a request, or none.
   */
  async fault(words: string): Promise<void> {
    const [verb, what = '', data] = words.split(' ')
    if (verb === 'drop') {
      const dropped = this.proxy.dropReply(opcodes[what as keyof typeof opcodes])
      this.#planned++
      void dropped.then(() => this.#planned--)
    } else if (verb === 'cut') this.proxy.resetAll()
    else if (verb === 'away') {
      this.proxy.conditions.blackHole = 'both'
      this.proxy.resetAll()
    } else if (verb === 'back') {
      this.proxy.heal()
      this.proxy.resetAll()
    } else if (verb === 'expire') {
      const isWelcome = ({ from, xid, opcode }: FaultProxy['frames'][number]) =>
        from === 'server' && xid === 0 && opcode === undefined
      const { sessionId, passwd } = LegacyConnectResponse.decode(this.proxy.frames.findLast(isWelcome)?.bytes as Buffer)
      await expireSession(this.server, sessionId, passwd as Uint8Array)
    } else if (verb === 'write') await this.admin.setData(what, data as string)
    else if (verb === 'some' || verb === 'no')
      expect(this.proxy.frames.some(({ opcode }) => opcode === opcodes[what as keyof typeof opcodes])).to.equal(
        verb === 'some',
      )
    else throw new Error(`no such fault: ${words}`)
  }

  /** Runs the program. It prints `!` and a fault, and waits for a line, or it prints what it has seen. */
  async play([program, ...args]: Command): Promise<string[]> {
    const running = new ChildProgram(args, { program, keepsInput: true })
    const printed: string[] = []
    for await (const line of running.lines())
      if (line.startsWith('!')) {
        await this.fault(line.slice(1))
        running.child.stdin.write('\n')
      } else if (!NOISE.test(line)) printed.push(line)
    const { status, err } = await running.ended
    return status === 0 ? printed : [...printed, `exit ${status}: ${err}`]
  }

  get planned(): number {
    return this.#planned
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal()
    await this.admin.deleteRecursive('/app')
    await this.admin.close()
    await this.proxy.close()
  }
}
