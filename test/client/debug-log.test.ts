// The debug log that the environment variable NODE_DEBUG turns on, in a child process.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../../environment/needs.ts'
import { freePort } from '../../environment/free-port.ts'
import { sharedServer } from '../support/shared-server.ts'

const PASSWORD = 'correct-horse'

async function debugLog(NODE_DEBUG: string, connectString: string): Promise<string[]> {
  const script = `
    import { connect } from './src/index.ts'
    const auth = [{ scheme: 'digest', auth: 'ann:${PASSWORD}' }]
    const zk = await connect('${connectString}', { auth }).catch(() => undefined)
    await zk?.close()`
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type', 'module', '--eval', script],
    { cwd: root, env: { ...process.env, NODE_DEBUG }, timeout: 30_000 },
  )
  expect(stdout).to.equal('')
  expect(stderr).not.to.contain(PASSWORD)
  return stderr.split('\n').filter(line => line !== '')
}

/** Removes what differs between runs: the process id and the session id. */
const plain = (line: string) => line.replace(/^ZKWIRE \d+: 0x[\da-f]+: /, '')

describe('NODE_DEBUG=zkwire', () => {
  it('logs a line for each attempt, state and cause, without secrets', async () => {
    const { connectString } = await sharedServer()
    expect((await debugLog('zkwire', connectString)).map(plain)).to.deep.equal([
      `connecting to ${connectString}`,
      `accepted by ${connectString}`,
      'state connecting -> connected',
      'state connected -> closed',
    ])
    const nobody = `127.0.0.1:${await freePort()}`
    expect((await debugLog('zkwire', nobody)).map(plain)).to.deep.equal([
      `connecting to ${nobody}`,
      `NOSERVER: connect: no server accepted the session (${nobody}: connection refused (connect ECONNREFUSED ${nobody}))`,
      'state connecting -> closed',
    ])
  })

  it('logs nothing for other values', async () => {
    const { connectString } = await sharedServer()
    expect(await debugLog('http', connectString)).to.deep.equal([])
  })
})
