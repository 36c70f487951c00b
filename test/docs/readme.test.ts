// Runs the code of the README, and of pages without a test of their own, unchanged, against the built package.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { codeBlocks, testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'

const pages: Readonly<Record<string, readonly (RegExp | string)[]>> = {
  'README.md': [/held with fencing token \d+/, 'test/docs/web-service.test.ts', /^NODEEXISTS \/report refused$/m],
  'docs/nodes.md': [/NodeDataChanged[^]*NODEEXISTS \/app\/a refused/, /NodeCreated \/config\/colour/],
  'docs/supervise.md': [/primary with \d+/, 'test/shut-down.long.test.ts', 'test/shut-down.long.test.ts'],
}

for (const [page, outputs] of Object.entries(pages))
  describe(page, () => {
    testCodeBlocks(page, outputs)

    it('has no syntax that Node 20 lacks', () => {
      for (const { heading, code } of codeBlocks(page)) expect(code, heading).to.not.contain('await using')
    })
  })

describe('the code of these pages', () => {
  it('leaves only lock directories on the server', async () => {
    const zk = await connect((await sharedServer()).connectString)
    expect(await zk.exists('/app')).to.equal(null)
    expect(await zk.exists('/report')).to.equal(null)
    await zk.deleteRecursive('/locks')
    await zk.deleteRecursive('/config')
    await zk.close()
  })
})
