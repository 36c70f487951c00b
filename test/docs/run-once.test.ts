// Checks docs/run-once.md: runs its code.
import { connect } from '../../src/index.ts'
import { testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'

describe('docs/run-once.md', () => {
  testCodeBlocks('docs/run-once.md', [
    /^pod 1: makes the report\npod 2: makes the report\n$/,
    /^pod 1 fails\nthe report is made\ntrue\nfalse\nthe report is made\ntrue\n$/,
    /^the report is made\ntrue\n$/,
  ])

  after(async () => {
    await using zk = await connect((await sharedServer()).connectString)
    await zk.deleteRecursive('/jobs')
  })
})
