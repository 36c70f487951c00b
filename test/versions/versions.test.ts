// The client and its recipes on each version of Apache ZooKeeper: what works, and what is missing.
import { connect } from '../../src/index.ts'
import { accessSuite } from './access.ts'
import { cacheSuite } from './cache.ts'
import { connectionSuite } from './connections.ts'
import { homes } from './homes.ts'
import { interopSuite } from './interop.ts'
import { operationsSuite } from './operations.ts'
import { recipesSuite } from './recipes.ts'
import { Subject } from './subject.ts'
import { watchesSuite } from './watches.ts'

for (const { name, isRequired, provide } of homes(process.env)) {
  describe(`on ${name},`, function () {
    const subject = new Subject()

    before(async function () {
      // Packages may have to be installed or downloaded first.
      this.timeout(600_000)
      let home: string | undefined
      try {
        home = await provide()
      } catch (error) {
        if (isRequired) throw error
        console.error(`${name} is not tested, because it cannot be had: ${(error as Error).message}`)
        this.skip()
      }
      await subject.start(home)
    })
    after(() => subject.close())
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
