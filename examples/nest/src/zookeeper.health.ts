// An indicator for Terminus: whether ZooKeeper serves this process, since when, and why not.
import { Inject, Injectable } from '@nestjs/common'
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus'
import { Sessions } from 'zkwire'

@Injectable()
export class ZooKeeperHealth {
  readonly #sessions: Sessions
  readonly #indicators: HealthIndicatorService

  constructor(
    @Inject(Sessions) sessions: Sessions,
    @Inject(HealthIndicatorService) indicators: HealthIndicatorService,
  ) {
    this.#sessions = sessions
    this.#indicators = indicators
  }

  async isReady(key: string): Promise<HealthIndicatorResult> {
    const indicator = this.#indicators.check(key)
    try {
      await this.#sessions.whenReady({ timeout: 1_000 })
      return indicator.up()
    } catch {
      const { state, since, reason } = this.#sessions.status
      return indicator.down({ state, since: new Date(since).toISOString(), reason: String(reason) })
    }
  }
}
