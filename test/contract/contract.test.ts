// One contract, for the embedded server and for Apache ZooKeeper.
import { connect } from '../../src/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { setCounters } from '../support/sequence-counter.ts'
import { sharedServer } from '../support/shared-server.ts'
import { hold, type Chapter } from './suite.ts'
import { briskChapters, chapters, countedChapters } from './suites.ts'
import { counted } from './suites/counters.ts'
import { brisk } from './suites/time.ts'

const nobody = () => Promise.resolve()

function keeps<S extends Server | ApacheZooKeeper>(
  name: string,
  contract: readonly Chapter[],
  start: () => Promise<S>,
  stop: (server: S) => Promise<void> = server => server.close(),
): void {
  describe(`${name} keeps the contract:`, () => {
    let server: S
    before(async function () {
      this.timeout(60_000)
      server = await start()
    })
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

async function makeCounted({ connectString }: Server | ApacheZooKeeper): Promise<void> {
  await using zk = await connect(connectString)
  for (const path of Object.keys(counted)) await zk.create(path)
}

keeps('the embedded server far on', countedChapters, async () => {
  const server = await Server.start(options)
  await makeCounted(server)
  for (const [path, next] of Object.entries(counted)) server.setSequenceCounter(path, next)
  return server
})
keeps('Apache ZooKeeper far on', countedChapters, async () => {
  const server = await startApacheZooKeeper()
  await makeCounted(server)
  // One start writes the snapshot, and the next one reads it.
  await server.kill()
  await server.start()
  await server.kill()
  setCounters(server.directory, counted)
  await server.start()
  return server
})
