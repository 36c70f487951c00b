// The debug log that the environment variable NODE_DEBUG turns on, in a child process with the built package.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeScript } from '../support/document.ts'
import { freePort } from '../../environment/free-port.ts'
import { sharedServer } from '../support/shared-server.ts'

const PASSWORD = 'correct-horse'

async function debugLog(name: string, NODE_DEBUG: string, connectString: string): Promise<string[]> {
  const file = await writeScript(
    join('debug-log', name),
    `import { connect } from 'zkwire'
     const auth = [{ scheme: 'digest', auth: 'ann:${PASSWORD}' }]
     const zk = await connect('localhost:2181', { auth }).catch(() => undefined)
     await zk?.close()`,
    connectString,
  )
  const env = { ...process.env, NODE_DEBUG }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { env, timeout: 15_000 })
  expect(stdout).to.equal('')
  expect(stderr).not.to.contain(PASSWORD)
  return stderr.split('\n').filter(line => line !== '')
}

/** Removes what differs between runs: the process id and the session id. */
const plain = (line: string) => line.replace(/^ZKWIRE \d+: 0x[\da-f]+: /, '')

describe('NODE_DEBUG=zkwire', () => {
  it('logs a line for each attempt, state and cause, without secrets', async () => {
    const { connectString } = await sharedServer()
    expect((await debugLog('connected', 'zkwire', connectString)).map(plain)).to.deep.equal([
      `connecting to ${connectString}`,
      `accepted by ${connectString}`,
      'state connecting -> connected',
      'state connected -> closed',
    ])
    const nobody = `127.0.0.1:${await freePort()}`
    expect((await debugLog('refused', 'zkwire', nobody)).map(plain)).to.deep.equal([
      `connecting to ${nobody}`,
      `NOSERVER: connect: no server accepted the session (${nobody}: connection refused (connect ECONNREFUSED ${nobody}))`,
      'state connecting -> closed',
    ])
  })

  it('logs nothing for other values', async () => {
    const { connectString } = await sharedServer()
    expect(await debugLog('silent', 'http', connectString)).to.deep.equal([])
  })
})
