// The client and its recipes on every Apache ZooKeeper that ZOOKEEPER_HOMES names: what works, and what is missing.
import { connect } from '../../src/index.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { accessSuite } from './access.ts'
import { cacheSuite } from './cache.ts'
import { connectionSuite } from './connections.ts'
import { homes } from './homes.ts'
import { interopSuite } from './interop.ts'
import { operationsSuite } from './operations.ts'
import { recipesSuite } from './recipes.ts'
import { Subject } from './subject.ts'
import { watchesSuite } from './watches.ts'

for (const { name, home } of homes(process.env['ZOOKEEPER_HOMES'])) {
  describe(`on ${name},`, function () {
    const subject = new Subject(home)

    before(async function () {
      // Debian's package may have to be installed first.
      this.timeout(600_000)
      if (home === undefined) await findApacheZooKeeper()
      subject.server = await startApacheZooKeeper({ home, config: { tickTime: 250 } })
      subject.version = await subject.server.version()
    })
    after(() => subject.server.close())
    beforeEach(async () => {
      subject.client = await connect(subject.server.connectString)
      await subject.makePath()
    })
    afterEach(() => subject.cleanUp())

    operationsSuite(subject)
    watchesSuite(subject)
    connectionSuite(subject)
    accessSuite(subject)
    recipesSuite(subject)
    cacheSuite(subject)
    interopSuite(subject)
  })
}
