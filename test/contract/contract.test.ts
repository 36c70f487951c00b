// One contract, for the embedded server and for Apache ZooKeeper.
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'
import { hold, type Chapter } from './chapter.ts'
import { briskChapters, chapters } from './chapters.ts'
import { brisk } from './chapters/time.ts'

const nobody = () => Promise.resolve()

function keeps<S extends Server | ApacheZooKeeper>(
  name: string,
  contract: readonly Chapter[],
  start: () => Promise<S>,
  stop: (server: S) => Promise<void> = server => server.close(),
): void {
  describe(`${name} keeps the contract:`, () => {
    let server: S
    before(async () => (server = await start()))
    after(() => stop(server))

    for (const { title, cases } of contract)
      describe(title, () => {
        for (const each of cases) it(each.title, () => hold(server, each))
      })
  })
}

const options: ServerOptions = { tickTime: 500, minSessionTimeout: 1000, extendedTypes: true }
keeps('the embedded server', chapters, () => Server.start(options))
keeps('Apache ZooKeeper', chapters, sharedServer, nobody)

const { containerCheckInterval, ...ticks } = brisk
keeps('the embedded server in a hurry', briskChapters, () => Server.start({ ...options, ...brisk }))
keeps('Apache ZooKeeper in a hurry', briskChapters, () =>
  startApacheZooKeeper({
    config: ticks,
    jvm: ['-Dzookeeper.extendedTypesEnabled=true', `-Dznode.container.checkIntervalMs=${containerCheckInterval}`],
  }),
)
