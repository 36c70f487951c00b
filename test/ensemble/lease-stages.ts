// The ensembles on which the schedules of lease-schedule.ts run: embedded servers in virtual time, and Apache's servers.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import type { Member } from '../../src/server/index.ts'
import type { Ensemble } from '../../environment/ensemble.ts'
import { until } from '../../environment/until.ts'
import { inOrder } from '../support/seeded-random.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'
import type { Stage, Way } from './lease-schedule.ts'

/** How long a message between two servers takes, in milliseconds. */
const LATENCY = 5

export class VirtualStage implements Stage {
  readonly #ensemble: VirtualEnsemble

  private constructor(ensemble: VirtualEnsemble) {
    this.#ensemble = ensemble
  }

  static async start(tick: number, syncLimit: number): Promise<VirtualStage> {
    return new VirtualStage(await VirtualEnsemble.start({ tickTime: tick, syncLimit, maxSessionTimeout: 60_000 }))
  }

  get servers(): readonly string[] {
    return this.#members.map(({ connectString }) => connectString)
  }

  get #members(): readonly Member[] {
    return this.#ensemble.server.members
  }

  async leader(): Promise<number> {
    const { server } = this.#ensemble
    while (server.leader === undefined || server.followers.length < this.#members.length - 1) await this.wait(100)
    return this.#members.indexOf(server.leader)
  }

  open(servers: readonly string[], sessionTimeout: number, asksLeader: boolean): Promise<Client> {
    const members = servers.map(server => this.#members.find(({ connectString }) => connectString === server) as Member)
    return this.#ensemble.connectAt(members, { sessionTimeout, asksLeader })
  }

  cut(server: number, way: Way): void {
    this.#members[server]?.cutOff(way)
  }

  delay(server: number, ms: number): void {
    this.#members[server]?.lag(ms)
  }

  heal(): void {
    for (const member of this.#members) {
      member.lag(LATENCY)
      member.heal()
    }
  }

  now(): number {
    return this.#ensemble.clock.now()
  }

  wait(ms: number): Promise<void> {
    return this.#ensemble.clock.advance(ms)
  }

  settled<T>(promise: Promise<T>): Promise<T> {
    return this.#ensemble.until(promise)
  }

  close(): Promise<void> {
    return this.#ensemble.close()
  }
}

export class ApacheStage implements Stage {
  readonly #ensemble: Ensemble

  /** @param ensemble must be linked */
  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble
  }

  get servers(): readonly string[] {
    return this.#ensemble.servers.map(({ connectString }) => connectString)
  }

  async leader(): Promise<number> {
    const { servers } = this.#ensemble
    await until(async () => (await this.#ensemble.followers()).length === servers.length - 1, { within: 120_000 })
    return servers.indexOf(await this.#ensemble.leader())
  }

  open(servers: readonly string[], sessionTimeout: number, asksLeader: boolean): Promise<Client> {
    const random = inOrder(servers.length)
    return connect(servers.join(','), { sessionTimeout, asksLeader, random, connectTimeout: 60_000 })
  }

  cut(server: number, way: Way): void {
    const victim = this.#ensemble.servers[server]
    if (victim !== undefined) this.#ensemble.hold(victim, way)
  }

  delay(server: number, ms: number): void {
    const victim = this.#ensemble.servers[server]
    if (victim !== undefined) this.#ensemble.slow(victim, ms)
  }

  heal(): void {
    this.#ensemble.heal()
  }

  now(): number {
    return performance.now()
  }

  async wait(ms: number): Promise<void> {
    await delay(ms)
  }

  settled<T>(promise: Promise<T>): Promise<T> {
    return promise
  }

  close(): Promise<void> {
    return this.#ensemble.close()
  }
}
