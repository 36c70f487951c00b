// Provides one `Sessions` for the whole application, and closes it at the end.
import { Inject, Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { TerminusModule } from '@nestjs/terminus'
import { Sessions, type SessionsOptions } from 'zkwire'
import { UnavailableFilter } from './unavailable.filter.ts'
import { ZooKeeperHealth } from './zookeeper.health.ts'

@Injectable()
class Shutdown implements OnApplicationShutdown {
  readonly #sessions: Sessions

  constructor(@Inject(Sessions) sessions: Sessions) {
    this.#sessions = sessions
  }

  /** Nest calls it when the server has closed, so the requests in hand have been answered. */
  onApplicationShutdown(): Promise<void> {
    return this.#sessions.close({ timeout: 20_000 })
  }
}

@Module({})
export class ZooKeeperModule {
  static forRoot(servers: string, options: SessionsOptions = {}): DynamicModule {
    return {
      module: ZooKeeperModule,
      global: true,
      imports: [TerminusModule],
      providers: [
        { provide: Sessions, useFactory: () => new Sessions(servers, options) },
        { provide: APP_FILTER, useClass: UnavailableFilter },
        Shutdown,
        ZooKeeperHealth,
      ],
      exports: [Sessions, ZooKeeperHealth],
    }
  }
}
