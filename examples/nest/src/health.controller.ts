import { Controller, Get, Inject } from '@nestjs/common'
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus'
import { ZooKeeperHealth } from './zookeeper.health.ts'

@Controller()
export class HealthController {
  readonly #checks: HealthCheckService
  readonly #zookeeper: ZooKeeperHealth

  constructor(
    @Inject(HealthCheckService) checks: HealthCheckService,
    @Inject(ZooKeeperHealth) zookeeper: ZooKeeperHealth,
  ) {
    this.#checks = checks
    this.#zookeeper = zookeeper
  }

  /** The process runs. It does not ask ZooKeeper: an outage must not kill the instances. */
  @Get('healthz')
  isAlive(): string {
    return 'ok'
  }

  @Get('readyz')
  @HealthCheck({ swaggerDocumentation: false })
  isReady(): Promise<HealthCheckResult> {
    return this.#checks.check([() => this.#zookeeper.isReady('zookeeper')])
  }
}
