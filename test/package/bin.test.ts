// The program `zkwire` of the installed package.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { nodes, run, userWithPackage } from './user.ts'

describe('the program of the installed package', () => {
  let directory: string
  let server: Server
  const zkwire = 'node_modules/.bin/zkwire'

  before(async function () {
    this.timeout(300_000)
    ;({ directory } = await userWithPackage())
    server = await Server.start()
    await using zk = await connect(server.connectString)
    await zk.create('/colour', 'blue')
  })
  after(() => server.close())

  for (const [name, node] of Object.entries(nodes))
    it(`reads a node and runs a program under a lock on ${name}`, async () => {
      const at = `--server ${server.connectString}`
      const read = await run(directory, '.', node, `${zkwire} get /colour ${at}`)
      expect(read).to.deep.equal({ code: 0, output: 'blue\n' })
      const locked = await run(directory, '.', node, `${zkwire} lock /lock ${at} -- printenv ZKWIRE_LOCK_NODE`)
      expect(locked.code, locked.output).to.equal(0)
      expect(locked.output).to.match(/^\/lock\/_c_\S+-lock-\d{10}\n$/)
      expect((await run(directory, '.', node, `${zkwire} nonsense`)).code).to.equal(64)
    })

  it('is started by npx, and prints the version of the package', async () => {
    const manifest = JSON.parse(await readFile(join(directory, 'node_modules/zkwire/package.json'), 'utf8')) as {
      version: string
    }
    const { code, output } = await run(directory, '.', 'node-24', 'npx --no-install zkwire --version')
    expect(code, output).to.equal(0)
    expect(output).to.contain(`${manifest.version}\n`)
  })

  it('serves the playground, which is part of the package', async () => {
    const { output } = await run(directory, '.', 'node-24', `timeout 10 ${zkwire} playground --port 0`)
    expect(output).to.match(/^http:\/\/127\.0\.0\.1:\d+\/\n$/)
    const page = await readFile(join(directory, 'node_modules/zkwire/dist/playground.html'), 'utf8')
    expect(page).to.match(/^<!doctype html>[^]*<\/html>\n$/)
  })

  it('has no CommonJS copy, because nothing requires it', () => {
    expect(existsSync(join(directory, 'node_modules/zkwire/dist/cli/main.js'))).to.equal(true)
    expect(existsSync(join(directory, 'node_modules/zkwire/dist/cjs/cli'))).to.equal(false)
  })
})
