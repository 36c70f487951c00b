// Compares our reader of a real server's log with ZooKeeper's own TxnLogToolkit.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect, ZooKeeperError } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { failureOf } from '../support/settled.ts'
import { readTransactionLog } from './transaction-log.ts'

const TOOL = 'org.apache.zookeeper.server.persistence.TxnLogToolkit'

describe('readTransactionLog()', () => {
  it('reads the same transactions as ZooKeeper’s TxnLogToolkit', async () => {
    await using server = await startApacheZooKeeper()
    const client = await connect(server.connectString)
    await client.create('/a', 'one')
    await client.create('/container', '', { mode: 'container' })
    await client.create('/a/ephemeral-', '', { mode: 'ephemeralSequential' })
    await client.setData('/a', 'two')
    await client.multi([
      { check: '/a', version: 1 },
      { create: '/b' },
      { setData: '/a', data: 'three' },
      { delete: '/b' },
    ])
    expect(await failureOf(client.multi([{ create: '/c' }, { check: '/a', version: 0 }]))).to.be.instanceOf(
      ZooKeeperError,
    )
    await client.delete('/container')
    await client.close()

    const log = readTransactionLog(server)
    expect(log.flatMap(({ changes }) => changes)).to.deep.equal([
      { is: 'created', path: '/a' },
      { is: 'created', path: '/container' },
      { is: 'created', path: '/a/ephemeral-0000000000' },
      { is: 'written', path: '/a', data: Buffer.from('two') },
      { is: 'created', path: '/b' },
      { is: 'written', path: '/a', data: Buffer.from('three') },
      { is: 'deleted', path: '/b' },
      { is: 'deleted', path: '/container' },
      { is: 'deleted', path: '/a/ephemeral-0000000000' },
    ])
    expect(log.at(-1)).to.include({ type: opcodes.closeSession, session: client.sessionId })
    expect(Math.abs((log[0]?.at ?? 0) - Date.now())).to.be.lessThan(60_000)

    const [file = ''] = readdirSync(join(server.directory, 'version-2')).filter(name => name.startsWith('log.'))
    const path = join(server.directory, 'version-2', file)
    const java = ['-cp', await findApacheZooKeeper(), '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', TOOL, path]
    const { stdout } = await promisify(execFile)('java', java)
    const toolOutput = [...stdout.matchAll(/session 0x(\w+) cxid \w+ zxid 0x(\w+) /g)]
    expect(log.map(({ session, zxid }) => [session, zxid])).to.deep.equal(
      toolOutput.map(([, session, zxid]) => [BigInt(`0x${session}`), BigInt(`0x${zxid}`)]),
    )
  })
})
