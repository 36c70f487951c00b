// A process that holds one lock of each exclusive kind until it is killed.
import { connect } from '../../src/index.ts'
import { kinds } from './locks/exclusive-kinds.ts'

const [connectString = '', sessionTimeout = '', root = ''] = process.argv.slice(2)
const client = await connect(connectString, { sessionTimeout: Number(sessionTimeout) })
await Promise.all(kinds.map(({ Lock }) => new Lock(client, `${root}/${Lock.name}`).acquire()))
// HerdMutex has removed its watch when this resolves.
await client.settled()
console.log('held')
