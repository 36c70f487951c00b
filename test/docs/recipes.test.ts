// Checks docs/recipes.md: runs its code. test/recipes/contract.test.ts and test/recipes/locks/losses.test.ts check what it says.
import { connect } from '../../src/index.ts'
import { testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'

describe('docs/recipes.md', () => {
  testCodeBlocks('docs/recipes.md', [
    /^0n 7n 7n\ntrue\ntrue\n$/,
    /^the last step has ended\ntrue\n$/,
    /^none\nblue\nblue\nenough\n$/,
    /^LOST true\n$/,
  ])

  after(async () => {
    await using zk = await connect((await sharedServer()).connectString)
    await zk.deleteRecursive('/app')
  })
})
