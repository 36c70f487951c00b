// Runs the README's code unchanged, against the built package.
import { expect } from 'chai'
import { connect } from '../src/index.ts'
import { codeBlocks, testCodeBlocks } from './support/document.ts'
import { sharedServer } from './support/shared-server.ts'

describe('the README', () => {
  testCodeBlocks('README.md', [
    /held with fencing token \d+/,
    'test/docs/web-service.test.ts',
    /NodeDataChanged[^]*NODEEXISTS \/app\/a refused/,
    /NodeCreated \/config\/colour/,
    /primary with \d+/,
    'test/shut-down.test.ts',
    'test/shut-down.test.ts',
    /\/locks\/reports\/_c_.*-lock-/,
    /exists \{path: "\/zookeeper"/,
    /^false$/m,
  ])

  it('has no syntax that Node 20 lacks', () => {
    for (const { heading, code } of codeBlocks('README.md')) expect(code, heading).to.not.contain('await using')
  })

  it('leaves only lock directories on the server', async () => {
    const zk = await connect((await sharedServer()).connectString)
    expect(await zk.exists('/app')).to.equal(null)
    await zk.deleteRecursive('/locks')
    await zk.deleteRecursive('/config')
    await zk.close()
  })
})
